"""Check one request for several targets: the same said to one person in several ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from notifications.channel import Channel
from notifications.errors import FieldError, InvalidRequest
from notifications.request.canonical import content_key
from notifications.request.check import Checked, Defaults, NotificationRequest, check
from notifications.request.content import CHANNELS_OF_FIELD
from notifications.request.times import Schedule

TARGETS_LEAST, TARGETS_MOST = 2, 10
_OF_TARGET = ("channel", "recipient")


@dataclass(frozen=True, slots=True)
class CheckedGroup:
    """A well-formed request for several targets: one request for each, all with the key of the whole."""

    requests: tuple[NotificationRequest, ...]
    schedule: Schedule
    present_errors: tuple[FieldError, ...]

    @property
    def key(self) -> str:
        return self.requests[0].idempotency_key


def check_group(raw: Mapping[str, object], *, now: datetime, defaults: Mapping[Channel, Defaults]) -> CheckedGroup:
    """Check every field, for each target as if it stood alone.

    A field that only some channels have goes to the targets of those channels; one that no target's channel has is
    refused.

    Args:
        raw: values by snake-case name; `targets` is a list of `{channel, recipient}`.
        now: aware; the database's time.

    Raises:
        InvalidRequest: with every error found; those of a target are called `targets[0].recipient` and so on.
    """
    targets, errors = _read_targets(raw)
    if errors:
        raise InvalidRequest(errors)
    checked: list[Checked] = []
    for number, target in enumerate(targets):
        try:
            checked.append(check(_raw_of(raw, target), now=now, defaults=defaults))
        except InvalidRequest as found:
            errors += [_renamed(error, number) for error in found.errors]
    errors += _homeless(raw, targets) + _repeated(checked)
    if errors:
        raise InvalidRequest(list(dict.fromkeys(errors)))
    return _together(raw, checked)


def _together(raw: Mapping[str, object], checked: Sequence[Checked]) -> CheckedGroup:
    requests = [c.request for c in checked]
    key = content_key(requests) if raw.get("dedupe_by_content") else requests[0].idempotency_key
    whole = tuple(replace(request, idempotency_key=key) for request in requests)
    present_errors = dict.fromkeys(error for each in checked for error in each.present_errors)
    return CheckedGroup(whole, checked[0].schedule, tuple(present_errors))


def _read_targets(raw: Mapping[str, object]) -> tuple[list[Mapping[str, object]], list[FieldError]]:
    errors = [
        FieldError(name, "conflict", "must not be given together with targets")
        for name in _OF_TARGET
        if raw.get(name) is not None
    ]
    listed = raw.get("targets")
    if not isinstance(listed, list | tuple) or not TARGETS_LEAST <= len(listed) <= TARGETS_MOST:
        message = f"must be a list of {TARGETS_LEAST} to {TARGETS_MOST} objects with channel and recipient"
        return [], [*errors, FieldError("targets", "invalid", message)]
    for number, target in enumerate(listed):
        if not isinstance(target, Mapping) or not set(target) <= set(_OF_TARGET):
            message = "must be an object with channel and recipient, and nothing else"
            errors.append(FieldError(f"targets[{number}]", "invalid", message))
    return list(listed), errors


def _raw_of(raw: Mapping[str, object], target: Mapping[str, object]) -> dict[str, object]:
    """What the target would be asked for by itself."""
    named = target.get("channel")
    channel = Channel.__members__.get(named) if isinstance(named, str) else None
    foreign = {name for name, owners in CHANNELS_OF_FIELD.items() if channel and channel not in owners}
    shared = {name: value for name, value in raw.items() if name not in foreign and name != "targets"}
    return shared | {name: target.get(name) for name in _OF_TARGET}


def _renamed(error: FieldError, number: int) -> FieldError:
    return replace(error, field=f"targets[{number}].{error.field}") if error.field in _OF_TARGET else error


def _homeless(raw: Mapping[str, object], targets: Iterable[Mapping[str, object]]) -> list[FieldError]:
    """Fields that no target's channel has; they would be ignored in silence."""
    channels = {target.get("channel") for target in targets if isinstance(target.get("channel"), str)}
    return [
        FieldError(name, "not_for_channel", f"is only for {' and '.join(sorted(owners))}, and no target is one")
        for name, owners in CHANNELS_OF_FIELD.items()
        if raw.get(name) is not None and owners.isdisjoint(channels)
    ]


def _repeated(checked: Sequence[Checked]) -> list[FieldError]:
    seen = [(c.request.channel, c.request.recipient) for c in checked]
    twice = len(set(seen)) < len(seen)
    return [FieldError("targets", "repeated", "must not name the same recipient twice")] if twice else []
