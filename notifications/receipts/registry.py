"""Whose callbacks are taken. A new receiver is one file and one line in `RECEIVERS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import cast

from notifications.providers.base import ProviderSettings
from notifications.providers.instance_settings import variable_prefix
from notifications.receipts.base import Receiver, misconfigured

RECEIVERS: dict[str, str] = {
    "bulksms": "notifications.receipts.bulksms:BulkSmsReceiver",
    "mailgun": "notifications.receipts.mailgun:MailgunReceiver",
    "resend": "notifications.receipts.resend:ResendReceiver",
    "sandbox": "notifications.receipts.sandbox:SandboxReceiver",
    "sendgrid": "notifications.receipts.sendgrid:SendGridReceiver",
    "ses": "notifications.receipts.ses:SesReceiver",
    "twilio": "notifications.receipts.twilio:TwilioReceiver",
    "vonage": "notifications.receipts.vonage:VonageReceiver",
}
TOPICS = frozenset({"ses"})
"""Those that are known by topics instead of secrets."""
Receivers = Mapping[str, Receiver]


def build(names: Iterable[str], settings: ProviderSettings) -> Receivers:
    """The receivers of those providers that have secrets in the settings, by the provider's name.

    Args:
        names: of provider instances beside the plain ones (`twilio`, `ses`), which are always looked at; those whose
            kind has no receiver are passed over.

    Raises:
        ConfigurationError: a secret cannot be one.
    """
    known = dict.fromkeys([*RECEIVERS, *(name for name in names if name.partition(":")[0] in RECEIVERS)])
    found = {name: _build(name, settings) for name in known}
    return {name: receiver for name, receiver in found.items() if receiver is not None}


def variable_of(name: str) -> str:
    """The setting with a provider's secrets, without the NOTIFYQ_ prefix: `twilio:eu` → `TWILIO_EU_RECEIPT_SECRETS`.

    Raises:
        ConfigurationError: the label cannot be part of a variable's name.
    """
    kind = name.partition(":")[0]
    return f"{variable_prefix(name)}_RECEIPT_{'TOPICS' if kind in TOPICS else 'SECRETS'}"


def _build(name: str, settings: ProviderSettings) -> Receiver | None:
    variable = variable_of(name)
    text = settings.text(variable, "").strip()
    if not text:
        return None
    secrets = [item.strip() for item in text.split(",") if item.strip()]
    module_name, _, class_name = RECEIVERS[name.partition(":")[0]].partition(":")
    receiver = cast("type[Receiver]", getattr(import_module(module_name), class_name))
    try:
        return receiver(name, secrets or [text])  # nothing but commas is no secret either
    except ValueError as error:
        raise misconfigured(f"NOTIFYQ_{variable}", error) from None
