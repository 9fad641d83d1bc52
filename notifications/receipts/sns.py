"""The envelope of Amazon SNS: what it signs, with which certificate, and how a subscription is confirmed.

Source: AWS's page on verifying the signatures of Amazon SNS messages, and moto 5.2.5 which signs in the same way,
2026-11. Nothing is fetched from anywhere but SNS itself: the certificate's address is held against the one form that
it has, and that of a confirmation is made here, not taken from the message.
"""

from __future__ import annotations

import base64
import binascii
import re
import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlencode

import requests
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from urllib3.exceptions import HTTPError

from notifications.providers.session import bounded, new_session
from notifications.receipts.base import Refused, Unavailable

TOPIC = re.compile(r"arn:(aws[a-z-]*):sns:([a-z0-9-]+):[0-9]{12}:[A-Za-z0-9_-]{1,256}")
_CERTIFICATE_PATH = re.compile(r"/SimpleNotificationService-[0-9A-Za-z]+\.pem")
_SIGNED = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")
_SIGNED_TO_CONFIRM = ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")
_HASHES: dict[str, hashes.HashAlgorithm] = {"1": hashes.SHA1(), "2": hashes.SHA256()}  # noqa: S303 (theirs, by default)
_FETCH_SECONDS = 5.0
_FETCHED_MOST_BYTES = 1 << 16
_KEPT_MOST = 32

Fetch = Callable[[str], bytes]


def fetch(url: str, *, timeout_seconds: float = _FETCH_SECONDS) -> bytes:
    """GET, bounded in time and length, following nothing.

    Raises:
        Unavailable: there was no answer with 200.
    """
    try:
        with (
            new_session() as session,
            bounded(timeout_seconds) as deadline,
            session.get(url, timeout=timeout_seconds, stream=True) as got,
        ):
            body = got.raw.read(_FETCHED_MOST_BYTES)
    except (requests.RequestException, HTTPError, OSError) as error:
        raise Unavailable(type(error).__name__) from None
    if got.status_code != 200 or deadline.fired:
        raise Unavailable("timeout" if deadline.fired else f"status {got.status_code}")
    return bytes(body)


class Envelopes:
    """Checks envelopes. Certificates are kept; only two are fetched at a time, whatever strangers ask for."""

    def __init__(self, topics: Collection[str], fetch: Fetch = fetch) -> None:
        self._topics = frozenset(topics)
        self._fetch = fetch
        self._keys: dict[str, rsa.RSAPublicKey] = {}
        self._seats = threading.BoundedSemaphore(2)

    def check(self, envelope: Mapping[str, Any]) -> None:
        """
        Raises:
            Refused: it is from no topic of ours, or SNS did not sign it.
            Unavailable: the certificate cannot be fetched now.
        """
        topic = envelope.get("TopicArn")
        if not isinstance(topic, str) or topic not in self._topics:
            raise Refused("wrong_topic")
        algorithm = _HASHES.get(str(envelope.get("SignatureVersion")))
        if algorithm is None or not envelope.get("Signature"):
            raise Refused("no_signature")
        key = self._key(_certificate_url(envelope, topic))
        try:
            raw = base64.b64decode(str(envelope["Signature"]), validate=True)
            key.verify(raw, string_to_sign(envelope).encode("utf-8", "replace"), padding.PKCS1v15(), algorithm)
        except (InvalidSignature, binascii.Error, ValueError):
            raise Refused("bad_signature") from None

    def confirm(self, url: str) -> None:
        """
        Raises:
            Unavailable: SNS does not take it now.
        """
        self._fetch(url)

    def _key(self, url: str) -> rsa.RSAPublicKey:
        known = self._keys.get(url)
        if known is not None:
            return known
        if not self._seats.acquire(blocking=False):
            raise Unavailable("busy")
        try:
            key = _public_key(self._fetch(url))
        finally:
            self._seats.release()
        while len(self._keys) >= _KEPT_MOST:
            self._keys.pop(next(iter(self._keys)), None)
        self._keys[url] = key
        return key


def string_to_sign(envelope: Mapping[str, Any]) -> str:
    """Name and value of each signed field that is there, a line each.

    Raises:
        Refused: one of them is no text.
    """
    names = _SIGNED if envelope.get("Type") == "Notification" else _SIGNED_TO_CONFIRM
    present = [name for name in names if name in envelope]
    if not all(isinstance(envelope[name], str) for name in present):
        raise Refused("bad_signature")
    return "".join(f"{name}\n{envelope[name]}\n" for name in present)


def confirm_url(envelope: Mapping[str, Any]) -> str:
    """Where a checked subscription is confirmed."""
    topic = envelope["TopicArn"]
    query = {"Action": "ConfirmSubscription", "TopicArn": topic, "Token": str(envelope.get("Token") or "")}
    return f"https://{_host(topic)}/?{urlencode(query)}"


def _certificate_url(envelope: Mapping[str, Any], topic: str) -> str:
    """Exactly a certificate of SNS in the topic's region, over TLS.

    Raises:
        Refused: it is anything else.
    """
    url, root = str(envelope.get("SigningCertURL") or envelope.get("SigningCertUrl") or ""), f"https://{_host(topic)}"
    if not (url.startswith(root) and _CERTIFICATE_PATH.fullmatch(url.removeprefix(root))):
        raise Refused("wrong_certificate")
    return url


def _host(topic: str) -> str:
    found = TOPIC.fullmatch(topic)
    assert found is not None  # noqa: S101 (configured topics are checked)
    partition, region = found.groups()
    return f"sns.{region}.amazonaws.com{'.cn' if partition == 'aws-cn' else ''}"


def _public_key(pem: bytes) -> rsa.RSAPublicKey:
    try:
        key = x509.load_pem_x509_certificate(pem).public_key()
    except ValueError:
        key = None
    if not isinstance(key, rsa.RSAPublicKey):
        raise Unavailable("no certificate")
    return key
