"""Which adapters there are. A new provider is one file and one line in `ADAPTERS`."""

from __future__ import annotations

from importlib import import_module

from notifications.errors import ConfigurationError
from notifications.providers.base import Lookup, Provider, ProviderSettings

ADAPTERS: dict[str, str] = {
    "apns": "notifications.providers.push.apns:ApnsProvider",
    "fcm": "notifications.providers.push.fcm:FcmProvider",
    "inbox": "notifications.providers.inbox:InboxProvider",
    "mailgun": "notifications.providers.email.mailgun:MailgunProvider",
    "resend": "notifications.providers.email.resend:ResendProvider",
    "sandbox": "notifications.providers.sandbox:SandboxProvider",
    "sendgrid": "notifications.providers.email.sendgrid:SendGridProvider",
    "ses": "notifications.providers.email.ses:SesProvider",
    "smtp": "notifications.providers.email.smtp:SmtpProvider",
    "twilio": "notifications.providers.sms.twilio:TwilioProvider",
    "vonage": "notifications.providers.sms.vonage:VonageProvider",
    "bulksms": "notifications.providers.sms.bulksms:BulkSmsProvider",
    "kudisms": "notifications.providers.sms.kudisms:KudiSmsProvider",
}


def build(name: str, settings: ProviderSettings) -> Provider:
    """Build the provider instance called `name` (`kind` or `kind:label`).

    Raises:
        ConfigurationError: no such kind, or one of its settings is missing or wrong.
    """
    return find(name, settings).from_settings(name, settings)


def find(name: str, settings: ProviderSettings) -> type[Provider]:
    """The adapter of `name`. Reads none of the instance's own settings.

    An adapter outside this project is found through NOTIFYQ_EXTRA_PROVIDERS, a comma-separated list of
    `kind=module:Class`.

    Raises:
        ConfigurationError: no such kind or its adapter cannot be loaded.
    """
    kind = name.partition(":")[0]
    known = ADAPTERS | _extra(settings)
    if kind not in known:
        raise ConfigurationError(f"there is no provider called {kind!r}; known are {', '.join(sorted(known))}")
    return _load(kind, known[kind])


def built_in(name: str) -> type[Provider] | None:
    """The adapter of `name` where it is one of this project's own; needs no settings."""
    kind = name.partition(":")[0]
    return _load(kind, ADAPTERS[kind]) if kind in ADAPTERS else None


def usual_lookup(name: str) -> Lookup | None:
    """How the vendor of `name` can be asked, its settings left aside; None where that cannot be said without them."""
    adapter = built_in(name)
    return adapter.usual_lookup if adapter else None


def kinds(settings: ProviderSettings) -> set[str]:
    """The names of all adapters.

    Raises:
        ConfigurationError: NOTIFYQ_EXTRA_PROVIDERS cannot be read.
    """
    return {*ADAPTERS, *_extra(settings)}


def _extra(settings: ProviderSettings) -> dict[str, str]:
    pairs = [item.strip() for item in settings.text("EXTRA_PROVIDERS", "").split(",") if item.strip()]
    extra = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    if len(extra) != len(pairs):
        raise ConfigurationError("NOTIFYQ_EXTRA_PROVIDERS must be a comma-separated list of kind=module:Class")
    return extra


def _load(kind: str, target: str) -> type[Provider]:
    module_name, _, class_name = target.partition(":")
    try:
        adapter = getattr(import_module(module_name), class_name)
    except (ImportError, AttributeError, SyntaxError, TypeError, ValueError) as error:
        raise ConfigurationError(f"the adapter of provider {kind!r} cannot be loaded: {error}") from error
    if not (isinstance(adapter, type) and issubclass(adapter, Provider)):
        raise ConfigurationError(f"the adapter of provider {kind!r} is not a Provider: {target}")
    return adapter
