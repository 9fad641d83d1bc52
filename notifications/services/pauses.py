"""Stop sending, and go on: by everything, channel, provider or client."""

from __future__ import annotations

import logging
from datetime import UTC
from uuid import UUID

from django.conf import settings

from notifications import accounts, queue, selectors
from notifications.channel import Channel
from notifications.errors import FieldError, InvalidRequest, NotFound
from notifications.models import Pause
from notifications.pausing import PauseScope

log = logging.getLogger(__name__)

REASON_MAX_LENGTH = 255


def pause(scope: object, value: object = None, *, reason: object = None, by: str) -> tuple[Pause, bool]:
    """Send nothing of what is named until it is resumed. In force within one poll of every worker.

    What is on its way is finished; what waits keeps its place in the order, and its time to live runs on. Safe to
    repeat: the same scope and value give the pause that is in force already, with its first reason.

    Args:
        scope: one of `PauseScope`.
        value: nothing for ALL, a channel, the name of a provider in a chain, or a client's name or id.
        by: who does it, for the record.

    Returns:
        The pause, and whether this call began it.

    Raises:
        InvalidRequest: with what is wrong, field by field.

    Transaction: the caller's, or one of its own.
    """
    wanted, named, text = check_pause(scope, value, reason)
    made, begun = queue.begin_pause(wanted, named, reason=text, created_by=by)
    made = selectors.with_client_name(made)
    if begun:
        log.warning("paused", extra={"pause_id": str(made.pk), "scope": made.scope, "value": made.value, "by": by})
    return made, begun


def resume(pause_id: UUID, *, reason: object = None, by: str) -> Pause:
    """End one pause. What other pauses keep stays where it is.

    Args:
        by: who does it, for the record.

    Raises:
        NotFound: none with this id is in force.
        InvalidRequest: the reason is no line of text.

    Transaction: the caller's, or one of its own.
    """
    ended = queue.end_pause(pause_id, by=by, reason=_line(reason))
    if ended is None:
        raise NotFound("no such pause is in force")
    log.warning("resumed", extra={"pause_id": str(ended.pk), "scope": ended.scope, "value": ended.value, "by": by})
    return selectors.with_client_name(ended)


def pause_told(pause: Pause) -> str:
    """Of one in force: by whom, since when and why."""
    since = f"{pause.created_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return f"by {pause.created_by} since {since}{f': {pause.reason}' if pause.reason else ', without a reason'}"


def find_pause(scope: object, value: object = None) -> Pause:
    """The pause in force of this scope and value.

    Raises:
        InvalidRequest: as `pause`, but a provider may have left its chain by now.
        NotFound: nothing like that is paused.
    """
    wanted = _scope(scope)
    named = str(value or "") if wanted is PauseScope.PROVIDER else _value(wanted, value)
    found = selectors.active_pauses().filter(scope=wanted, value=named).first()
    if found is None:
        raise NotFound("nothing like that is paused")
    return found


def check_pause(scope: object, value: object, reason: object) -> tuple[PauseScope, str, str]:
    """The values as they are stored.

    Raises:
        InvalidRequest: with what is wrong, field by field.
    """
    errors: list[FieldError] = []
    wanted, named = PauseScope.ALL, ""
    try:
        wanted = _scope(scope)
        named = _value(wanted, value)
    except InvalidRequest as problem:
        errors += problem.errors
    text = ""
    try:
        text = _line(reason)
    except InvalidRequest as problem:
        errors += problem.errors
    if errors:
        raise InvalidRequest(errors)
    return wanted, named, text


def _line(reason: object) -> str:
    text = "" if reason is None else reason
    if not isinstance(text, str) or len(text) > REASON_MAX_LENGTH or not text.isprintable():
        wrong = FieldError("reason", "invalid", f"must be at most {REASON_MAX_LENGTH} printable characters")
        raise InvalidRequest([wrong])
    return text


def _scope(scope: object) -> PauseScope:
    if not isinstance(scope, str) or scope not in PauseScope.__members__:
        raise InvalidRequest([FieldError("scope", "not_an_option", f"must be one of {', '.join(PauseScope)}")])
    return PauseScope[scope]


def _value(scope: PauseScope, value: object) -> str:
    if value is not None and not isinstance(value, str):
        raise _wrong("not_text", "must be text")
    text = value or ""
    if scope is PauseScope.ALL:
        if text:
            raise _wrong("not_empty", "must be empty when everything is paused")
        return ""
    if not text or not text.isprintable():
        raise _wrong("required", f"must name the {scope.lower()}")
    if scope is PauseScope.CLIENT:
        return _client_id(text)
    names = list(Channel) if scope is PauseScope.CHANNEL else _providers()
    if text not in names:
        raise _wrong("not_an_option", f"must be one of {', '.join(names)}")
    return text


def _client_id(name_or_id: str) -> str:
    try:
        return str(accounts.find_client(name_or_id).pk)
    except NotFound:
        raise _wrong("unknown", "must be the name or the id of a client") from None


def _providers() -> list[str]:
    return sorted({name for chain in settings.NOTIFYQ.provider_chains.values() for name in chain})


def _wrong(code: str, message: str) -> InvalidRequest:
    return InvalidRequest([FieldError("value", code, message)])
