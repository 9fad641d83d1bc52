"""System checks of the project: `manage.py check`, and before every command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connections

from notifications.errors import ConfigurationError
from notifications.providers import chains
from notifyq.env import Environment
from notifyq.secret_settings import SECRET_LENGTH_LEAST, is_short

POSTGRESQL_LEAST = 15


@register()
def check_sandbox(**kwargs: Any) -> list[CheckMessage]:
    """W001: a real installation whose provider chain ends in the simulated provider."""
    if settings.DEBUG:
        return []
    simulated = [
        channel.value
        for channel, chain in settings.NOTIFYQ.provider_chains.items()
        if any(name.partition(":")[0] == "sandbox" for name in chain)
    ]
    if not simulated:
        return []
    return [
        Warning(
            f"The sandbox provider serves {', '.join(simulated)}: what it accepts is not really sent.",
            hint=f"Name real providers in {', '.join(f'NOTIFYQ_{c}_PROVIDERS' for c in simulated)}.",
            id="notifyq.W001",
        )
    ]


@register()
def check_providers(**kwargs: Any) -> list[CheckMessage]:
    """W002: a provider chain that no worker can build. No error: only the workers need the providers' secrets."""
    try:
        chains.close(chains.build(settings.NOTIFYQ.provider_chains, Environment()))
    except ConfigurationError as error:
        return [Warning(f"{error}.", hint="No worker starts with these settings.", id="notifyq.W002")]
    return []


@register()
def check_secret_key(**kwargs: Any) -> list[CheckMessage]:
    """W003: a SECRET_KEY that may be guessed. No error: tools that need no secret are run with any text."""
    if settings.DEBUG or not is_short(settings.SECRET_KEY):
        return []
    return [
        Warning(
            f"SECRET_KEY is shorter than {SECRET_LENGTH_LEAST} characters: who guesses it can forge a session.",
            hint="Set it to a long random text, as `openssl rand -hex 32` prints one.",
            id="notifyq.W003",
        )
    ]


@register(Tags.database)
def check_postgresql(databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """E001: PostgreSQL is too old. E002: it does not answer."""
    found: list[CheckMessage] = []
    for alias in databases or ():
        try:
            connections[alias].ensure_connection()
            version = getattr(connections[alias], "pg_version") // 10_000  # noqa: B009 (typed for every vendor)
        except DatabaseError:
            found.append(Error("The database does not answer.", hint="Check DATABASE_URL.", id="notifyq.E002"))
            continue
        if version < POSTGRESQL_LEAST:
            text = f"PostgreSQL {version} is too old; {POSTGRESQL_LEAST} or later is needed."
            found.append(Error(text, hint="Upgrade the server.", id="notifyq.E001"))
    return found
