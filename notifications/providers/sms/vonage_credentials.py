"""Who we are to Vonage: an application with a key pair, or the account with a secret."""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from notifications.errors import ConfigurationError
from notifications.providers.base import ProviderSettings
from notifications.providers.instance_settings import read_key

_TOKEN_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Credentials:
    """One of the pairs, or both.

    Attributes:
        account: API key and secret.
        application: id and private key, with which messages are sent where they are given.
    """

    account: tuple[str, str] | None = field(default=None, repr=False)
    application: tuple[str, RSAPrivateKey] | None = field(default=None, repr=False)

    def authorization(self) -> str:
        """The value of the header. A token is for one request."""
        if self.application is None:
            return "Basic " + base64.b64encode(":".join(self.account or ()).encode()).decode()
        application_id, key = self.application
        now = int(time.time())
        claims = {"application_id": application_id, "iat": now, "exp": now + _TOKEN_SECONDS, "jti": str(uuid4())}
        return "Bearer " + jwt.encode(claims, key, algorithm="RS256")


def read_credentials(settings: ProviderSettings, prefix: str) -> Credentials:
    """Read _APPLICATION_ID with _PRIVATE_KEY (a PEM, or the path of one), and _API_KEY with _API_SECRET.

    Raises:
        ConfigurationError: there is no whole pair, or half a pair, or a key that is none.
    """
    application_id = read_key(settings, f"{prefix}_APPLICATION_ID", "")
    key_text = settings.text(f"{prefix}_PRIVATE_KEY", "").strip()
    api_key = read_key(settings, f"{prefix}_API_KEY", "")
    secret = read_key(settings, f"{prefix}_API_SECRET", "")
    pairs = ((application_id, "APPLICATION_ID", key_text, "PRIVATE_KEY"), (api_key, "API_KEY", secret, "API_SECRET"))
    for one, its_name, other, other_name in pairs:
        if bool(one) != bool(other):
            given, missing = (its_name, other_name) if one else (other_name, its_name)
            raise ConfigurationError(
                f"NOTIFYQ_{prefix}_{missing} is not set; it is needed beside NOTIFYQ_{prefix}_{given}"
            )
    if not application_id and not api_key:
        raise ConfigurationError(
            f"NOTIFYQ_{prefix}_APPLICATION_ID is not set; give it with NOTIFYQ_{prefix}_PRIVATE_KEY, "
            f"or NOTIFYQ_{prefix}_API_KEY with NOTIFYQ_{prefix}_API_SECRET"
        )
    return Credentials(
        account=(api_key, secret) if api_key else None,
        application=(_uuid(application_id, prefix), _private_key(key_text, prefix)) if application_id else None,
    )


def _uuid(text: str, prefix: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise ConfigurationError(f"NOTIFYQ_{prefix}_APPLICATION_ID must be a UUID") from None


def _private_key(text: str, prefix: str) -> RSAPrivateKey:
    variable = f"NOTIFYQ_{prefix}_PRIVATE_KEY"
    try:
        # An environment file has one line for each value, so the line breaks of a PEM come as \n.
        pem = text.replace("\\n", "\n").encode() if text.startswith("-----BEGIN") else Path(text).read_bytes()
    except (OSError, ValueError):
        raise ConfigurationError(f"{variable} must be a private key in PEM form, or the path of one") from None
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPrivateKey):
        raise ConfigurationError(f"{variable} must be an RSA private key in PEM form, without a passphrase")
    return key
