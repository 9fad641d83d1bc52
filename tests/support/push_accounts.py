"""Accounts with vendors of push, made up: their keys are made once for each run."""

from __future__ import annotations

import json
from functools import lru_cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

TOPIC, TEAM_ID, KEY_ID = "com.example.shop", "TEAM123456", "KEY1234567"


@lru_cache(1)
def apple_key() -> str:
    """PEM, as a `.p8` file holds it."""
    return _pem(ec.generate_private_key(ec.SECP256R1()))


@lru_cache(1)
def google_key() -> str:
    return _pem(rsa.generate_private_key(public_exponent=65537, key_size=2048))


def service_account(token_url: str = "https://oauth2.googleapis.com/token", **changes: object) -> dict[str, object]:
    """The key file that Google's console gives out."""
    return {
        "type": "service_account",
        "project_id": "shop-1",
        "private_key_id": "key-1",
        "private_key": google_key(),
        "client_email": "sender@shop-1.iam.gserviceaccount.com",
        "token_uri": token_url,
    } | changes


def fcm_variables(**changes: str) -> dict[str, str]:
    return {"NOTIFYQ_FCM_CREDENTIALS": json.dumps(service_account())} | changes


def apns_variables(**changes: str) -> dict[str, str]:
    return {
        "NOTIFYQ_APNS_KEY": apple_key(),
        "NOTIFYQ_APNS_KEY_ID": KEY_ID,
        "NOTIFYQ_APNS_TEAM_ID": TEAM_ID,
        "NOTIFYQ_APNS_TOPIC": TOPIC,
    } | changes


def _pem(key: PrivateKeyTypes) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
