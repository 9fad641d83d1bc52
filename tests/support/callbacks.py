"""Callbacks as vendors make them: signed with what the tests' receivers know."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import NameOID
from standardwebhooks import Webhook

from notifications.receipts import Call
from notifications.receipts.sns import string_to_sign
from notifyq.env import Environment

KEY = UUID("01a22cbf-5d05-7797-8b38-3cc29ff8d9c8")
OLD, NEW = "the-old-secret-of-the-receivers-0", "the-new-secret-of-the-receivers-1"
TOPIC = "arn:aws:sns:eu-west-1:123456789012:ses-events"
CERTIFICATE_URL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123abcd.pem"
BASE = "https://notify.example.com"
WHSEC, OLD_WHSEC, OTHER_WHSEC = (f"whsec_{base64.b64encode(bytes([n]) * 24).decode()}" for n in (1, 2, 3))
SENDGRID_KEY = ec.generate_private_key(ec.SECP256R1())
SNS_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_text(key: ec.EllipticCurvePrivateKey) -> str:
    """As SendGrid shows it."""
    der = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(der).decode("ascii")


def environment(**more: str) -> Environment:
    """Secrets for every receiver."""
    secrets = {f"NOTIFYQ_{kind}_RECEIPT_SECRETS": f"{NEW},{OLD}" for kind in SYMMETRIC}
    other = {
        "NOTIFYQ_RESEND_RECEIPT_SECRETS": f"{WHSEC},{OLD_WHSEC}",
        "NOTIFYQ_SENDGRID_RECEIPT_SECRETS": public_text(SENDGRID_KEY),
        "NOTIFYQ_SES_RECEIPT_TOPICS": TOPIC,
    }
    return Environment(secrets | other | more)


SYMMETRIC = ("TWILIO", "MAILGUN", "VONAGE", "BULKSMS", "SANDBOX")


def call(body: bytes | Any, *, url: str = f"{BASE}/receipts/x", headers: Mapping[str, str] | None = None) -> Call:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Call((url,), {name.lower(): value for name, value in (headers or {}).items()}, raw)


def sendgrid(events: Any, *, key: ec.EllipticCurvePrivateKey = SENDGRID_KEY, age_seconds: float = 0.0) -> Call:
    raw = events if isinstance(events, bytes) else json.dumps(events).encode()
    timestamp = str(int(time.time() - age_seconds))
    signed = base64.b64encode(key.sign(timestamp.encode() + raw, ec.ECDSA(hashes.SHA256()))).decode()
    name = "X-Twilio-Email-Event-Webhook-"
    return call(raw, headers={f"{name}Signature": signed, f"{name}Timestamp": timestamp})


def mailgun(event: Any, *, secret: str = NEW, age_seconds: float = 0.0, token: str = "a" * 50) -> dict[str, Any]:
    timestamp = str(int(time.time() - age_seconds))
    digest = hmac.new(secret.encode(), (timestamp + token).encode(), hashlib.sha256).hexdigest()
    return {"signature": {"timestamp": timestamp, "token": token, "signature": digest}, "event-data": event}


def resend(event: Any, *, secret: str = WHSEC, age_seconds: float = 0.0, identity: str = "msg_1") -> Call:
    raw = json.dumps(event)
    at = datetime.now(UTC) - timedelta(seconds=age_seconds)
    signed = Webhook(secret).sign(msg_id=identity, timestamp=at, data=raw)
    headers = {"svix-id": identity, "svix-timestamp": str(int(at.timestamp())), "svix-signature": f"v1,AAAA {signed}"}
    return call(raw.encode(), headers=headers)


def sandbox(events: Any, *, secret: str = NEW, age_seconds: float = 0.0) -> Call:
    raw = json.dumps(events).encode()
    timestamp = str(int(time.time() - age_seconds))
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + raw, hashlib.sha256).hexdigest()
    return call(raw, headers={"X-Sandbox-Signature": digest, "X-Sandbox-Timestamp": timestamp})


def sandbox_event(
    identity: str, status: str, *, key: object = None, message_id: str = "", **more: Any
) -> dict[str, Any]:
    return {"id": identity, "key": str(key) if key else None, "messageId": message_id, "status": status, **more}


def certificate(key: rsa.RSAPrivateKey = SNS_KEY) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)


def sns(message: Any, *, key: rsa.RSAPrivateKey = SNS_KEY, version: str = "2", **changes: str) -> dict[str, str]:
    """A signed envelope."""
    envelope = {
        "Type": "Notification",
        "MessageId": "m-1",
        "TopicArn": TOPIC,
        "Message": message if isinstance(message, str) else json.dumps(message),
        "Timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "SignatureVersion": version,
        "SigningCertURL": CERTIFICATE_URL,
    } | changes
    algorithm = hashes.SHA1() if version == "1" else hashes.SHA256()
    signed = key.sign(string_to_sign(envelope).encode(), padding.PKCS1v15(), algorithm)
    return envelope | {"Signature": base64.b64encode(signed).decode()}
