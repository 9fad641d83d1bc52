"""Encryption of what must be read again, such as a client's relay address with its password."""

from __future__ import annotations

import base64
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

_PURPOSE = b"notifyq stored secret v1"


class Unreadable(Exception):
    """None of the present keys opens it: the key it was written with is gone from the settings."""


def encrypt(text: str) -> str:
    """Encrypt with the first key. Each call gives another token."""
    return _box().encrypt(text.encode()).decode("ascii")


def decrypt(token: str) -> str:
    """Open what `encrypt` made, with whichever key fits.

    Raises:
        Unreadable: no key fits.
    """
    try:
        return _box().decrypt(token.encode()).decode()
    except InvalidToken:
        raise Unreadable("no present key opens this secret") from None


def _box() -> MultiFernet:
    return _box_of(tuple(settings.ENCRYPTION_KEYS) or (settings.SECRET_KEY,))


@lru_cache(maxsize=4)
def _box_of(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(_derive(key)) for key in keys])


def _derive(key: str) -> bytes:
    """Any long random text serves as a key; a purpose of its own keeps it apart from other uses of the same text."""
    raw = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=_PURPOSE).derive(key.encode())
    return base64.urlsafe_b64encode(raw)
