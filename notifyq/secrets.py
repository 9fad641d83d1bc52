"""Encryption of what must be read again, such as a client's relay address with its password."""

from __future__ import annotations

import base64
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

STORED = b"notifyq stored secret v1"
"""What stands in the database."""


class Unreadable(Exception):
    """None of the present keys opens it: the key it was written with is gone from the settings."""


def encrypt(text: str, *, purpose: bytes = STORED) -> str:
    """Encrypt with the first key. Each call gives another token.

    Args:
        purpose: what it is for: a token made for one purpose is unreadable for every other.
    """
    return _box(purpose).encrypt(text.encode()).decode("ascii")


def decrypt(token: str, *, purpose: bytes = STORED) -> str:
    """Open what `encrypt` made for that purpose, with whichever key fits.

    Raises:
        Unreadable: no key fits.
    """
    try:
        return _box(purpose).decrypt(token.encode()).decode()
    except InvalidToken:
        raise Unreadable("no present key opens this secret") from None


def _box(purpose: bytes) -> MultiFernet:
    return _box_of(tuple(settings.ENCRYPTION_KEYS) or (settings.SECRET_KEY,), purpose)


@lru_cache(maxsize=8)
def _box_of(keys: tuple[str, ...], purpose: bytes) -> MultiFernet:
    return MultiFernet([Fernet(_derive(key, purpose)) for key in keys])


def _derive(key: str, purpose: bytes) -> bytes:
    """Any long random text serves as a key; a purpose of its own keeps it apart from other uses of the same text."""
    raw = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=purpose).derive(key.encode())
    return base64.urlsafe_b64encode(raw)
