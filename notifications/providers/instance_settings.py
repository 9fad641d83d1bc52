"""What the settings of one provider instance are called, and reading those that every vendor has. Pure."""

from __future__ import annotations

import re

from notifications.errors import ConfigurationError
from notifications.providers.base import ProviderSettings

_LABEL = re.compile(r"[A-Za-z0-9_-]+")
_TOKEN = re.compile(r"[\x21-\x7e]+")


def variable_prefix(name: str) -> str:
    """What the names of an instance's settings begin with: `SENDGRID` for `sendgrid`, `SENDGRID_EU` for `sendgrid:eu`.

    Raises:
        ConfigurationError: the label is not letters, digits, - and _.
    """
    kind, colon, label = name.partition(":")
    if colon and not _LABEL.fullmatch(label):
        raise ConfigurationError(f"the label of provider {name!r} must be letters, digits, - and _")
    return (f"{kind}_{label}" if colon else kind).upper().replace("-", "_")


def read_key(settings: ProviderSettings, variable: str, default: str | None = None) -> str:
    """A key or token that is to stand in an HTTP header; line ends around it, as a file has them, are dropped.

    Raises:
        ConfigurationError: it is missing without a default, or could not stand there. The value is not repeated.
    """
    key = settings.text(variable, default).strip()
    if not _TOKEN.fullmatch(key) and key != default:
        raise ConfigurationError(f"NOTIFYQ_{variable} must be printable ASCII without spaces")
    return key
