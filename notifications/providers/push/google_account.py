"""A Google service account: its file, and the assertion it signs to be given an access token. Pure, no network."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from notifications.url_parts import split_url

SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
AUDIENCE = "https://oauth2.googleapis.com/token"
ASSERTION_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """What is needed of the file. Its `repr` shows no key.

    Attributes:
        token_url: where the assertion is exchanged.
    """

    email: str
    project_id: str
    key_id: str
    token_url: str
    key: RSAPrivateKey = field(repr=False)

    def assertion(self, now: float) -> str:
        """A signed wish for an access token.

        Args:
            now: seconds since 1970.

        Source: Google, Using OAuth 2.0 for server to server applications (HTTP/REST), read 2026-11-30. The audience is
        always Google's own address, as in google-auth, whatever `token_url` is.
        """
        issued_at = int(now)
        claims: dict[str, Any] = {
            "iss": self.email,
            "scope": SCOPE,
            "aud": AUDIENCE,
            "iat": issued_at,
            "exp": issued_at + ASSERTION_SECONDS,
        }
        return jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": self.key_id})


def parse_service_account(text: str) -> ServiceAccount:
    """Read the JSON file that Google's console gives out.

    Raises:
        ValueError: what is wrong with it, without anything of what stands in it.
    """
    document = _object(text)
    if document.get("type") != "service_account":
        raise ValueError('is not the key file of a service account: its "type" is another')
    token_url = _text(document, "token_uri", AUDIENCE)
    if split_url(token_url, ("http", "https")) is None:
        raise ValueError('has a "token_uri" that is no URL')
    return ServiceAccount(
        email=_text(document, "client_email"),
        project_id=_text(document, "project_id", ""),
        key_id=_text(document, "private_key_id", ""),
        token_url=token_url,
        key=_key(_text(document, "private_key")),
    )


def _object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        raise ValueError("is not JSON") from None
    if not isinstance(document, dict):
        raise ValueError("is not a JSON object")  # noqa: TRY004 (a value of the settings)
    return document


def _text(document: dict[str, Any], name: str, default: str | None = None) -> str:
    value = document.get(name, default)
    if not isinstance(value, str) or (not value and default is None):
        raise ValueError(f'has no "{name}"')
    return value


def _key(pem: str) -> RSAPrivateKey:
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ValueError('has a "private_key" that cannot be read') from None
    if not isinstance(key, RSAPrivateKey):
        raise ValueError('has a "private_key" that is not RSA')  # noqa: TRY004 (a value of the settings)
    return key
