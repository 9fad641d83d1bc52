"""What the secrets of the installation have to look like. None is ever repeated."""

from __future__ import annotations

from notifications.errors import ConfigurationError
from notifyq.env import Environment

SECRET_LENGTH_LEAST = 32


def is_short(secret_key: str) -> bool:
    """Whether it is too short a SECRET_KEY: it may be guessed, and with it a session be forged."""
    return len(secret_key) < SECRET_LENGTH_LEAST


def encryption_keys(env: Environment) -> list[str]:
    """NOTIFYQ_ENCRYPTION_KEYS. Those behind the first only open what was written before: they are as they were.

    Raises:
        ConfigurationError: the first is too short to be a key.
    """
    keys = list(env.names("ENCRYPTION_KEYS"))
    if keys and len(keys[0]) < SECRET_LENGTH_LEAST:
        raise ConfigurationError(
            f"NOTIFYQ_ENCRYPTION_KEYS must begin with a random text of at least {SECRET_LENGTH_LEAST} characters"
        )
    return keys
