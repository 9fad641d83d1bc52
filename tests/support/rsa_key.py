"""A key pair for tests, made once."""

from __future__ import annotations

from functools import cache

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat


@cache
def rsa_key() -> RSAPrivateKey:
    return generate_private_key(public_exponent=65_537, key_size=2048)


def rsa_pem() -> str:
    return rsa_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
