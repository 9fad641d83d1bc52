"""Settings that the push adapters share: variables by the instance's name, keys given as text or as a path."""

from __future__ import annotations

import re
from pathlib import Path

from notifications.errors import ConfigurationError
from notifications.providers.base import ProviderSettings

_LABEL = re.compile(r"[A-Za-z0-9_-]+")


def prefix_of(name: str) -> str:
    """`fcm` reads NOTIFYQ_FCM_…, `fcm:shop-a` NOTIFYQ_FCM_SHOP_A_…; without the NOTIFYQ_.

    Raises:
        ConfigurationError: the label cannot be part of a variable's name.
    """
    kind, colon, label = name.partition(":")
    if colon and not _LABEL.fullmatch(label):
        raise ConfigurationError(f"the label of provider {name!r} must be letters, digits, - and _")
    return (f"{kind}_{label}" if colon else kind).upper().replace("-", "_")


def secret_text(settings: ProviderSettings, variable: str, begins: str) -> str:
    """The secret that a variable holds, or that stands in the file whose path it holds.

    Args:
        begins: how the secret itself begins; anything else is a path.

    Raises:
        ConfigurationError: one line that names the variable and repeats nothing of the secret.
    """
    value = settings.text(variable).strip()
    if value.startswith(begins):
        # A PEM in a .env file often has its line breaks written out.
        return value.replace("\\n", "\n") if begins.startswith("-----") else value
    try:
        return Path(value).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise ConfigurationError(f"NOTIFYQ_{variable} must be the key itself or the path of a readable file") from None


def matching(settings: ProviderSettings, variable: str, form: str, what: str) -> str:
    """The value of a variable, which must match the regular expression `form` as a whole.

    Raises:
        ConfigurationError: it is missing, or does not.
    """
    value = settings.text(variable).strip()
    if not re.fullmatch(form, value, re.ASCII):
        raise ConfigurationError(f"NOTIFYQ_{variable} must be {what}")
    return value
