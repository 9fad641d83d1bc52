"""Act on everything that matches a filter: look first, then have the workers do it. Only operators do."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from notifications import accounts, queue, selectors
from notifications.channel import Channel
from notifications.errors import InvalidRequest, NotFound
from notifications.models import BULK_ACTIONS, BulkAct, BulkAction, Notification
from notifications.providers.instance_names import NAME_LENGTH_MOST
from notifications.queue import RETRYABLE, Act, Actor, BulkCount, BulkFilter, BulkSelection
from notifications.request.fields import LABEL_MAX_LENGTH, Fields, Invalid
from notifications.request.recipients import canonical_filter
from notifications.request.times import AHEAD_MAX_SECONDS, parse_instant
from notifications.services.acts import read_reason
from notifications.status import Status, WaitingReason

log = logging.getLogger(__name__)

STATUSES = {
    BulkAction.RETRY: RETRYABLE[::-1],
    BulkAction.CANCEL: (Status.PENDING,),
    BulkAction.RESCHEDULE: (Status.PENDING,),
    BulkAction.RESOLVE_SENT: (Status.DEAD_LETTERED,),
    BulkAction.RESOLVE_FAILED: (Status.DEAD_LETTERED,),
}
"""What each act can begin from; the first is meant when none is named."""
RATE_DEFAULT, RATE_MOST = 100, 1_000
SAMPLE_SIZE = 10
CONFIRMED_WITHIN = timedelta(days=1)
"""How long after its look an act may be confirmed, at most."""
_NAIVE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class BulkPreview:
    """What an act would do, as things stood at the cutoff.

    Attributes:
        count: None when counting took too long.
        sample: the first ten; None when even that took too long.
    """

    selection: BulkSelection
    cutoff: datetime
    count: BulkCount | None
    sample: list[Notification] | None


def read_bulk(raw: Mapping[str, str]) -> BulkSelection:
    """The filter that text values by name stand for; empty ones count as absent.

    Args:
        raw: `act` (such as `retry` or `resolve-sent`, any case), `status`, `channel`, `provider`, `error_code`,
            `client` (name or id), `recipient`, `reference`, `after`, `before`, `send_at`, `unsure`,
            `waiting_reason` (of what waits). A time without an offset is UTC, one without a time of day its beginning.

    Raises:
        InvalidRequest: with all that is wrong.
    """
    given = {name: value.strip() for name, value in raw.items() if value.strip()}
    for name in ("act", "status", "channel", "waiting_reason"):
        if name in given:
            given[name] = given[name].upper()
    given |= {"act": given["act"].replace("-", "_")} if "act" in given else {}
    fields = Fields(given)
    action = BulkAction[fields.option("act", [a.value for a in BULK_ACTIONS], required=True) or BulkAction.RETRY]
    status = fields.option("status", [s.value for s in STATUSES[action]])
    channel = fields.option("channel", Channel.__members__)
    after, before = read_window(fields)
    selection = BulkSelection(
        action=action,
        status=Status(status) if status else STATUSES[action][0],
        channel=Channel[channel] if channel else None,
        provider=fields.text("provider", max_length=NAME_LENGTH_MOST),
        error_code=fields.text("error_code", max_length=LABEL_MAX_LENGTH),
        client_id=read_client(fields),
        recipient=_recipient(fields),
        reference=fields.text("reference", max_length=LABEL_MAX_LENGTH),
        after=after,
        before=before,
        waiting_reason=_waiting_reason(fields, action),
        include_unsure=action is BulkAction.RETRY and bool(given.get("unsure")),
        send_at=_send_at(fields) if action is BulkAction.RESCHEDULE else None,
    )
    if fields.errors:
        raise InvalidRequest(fields.errors)
    return selection


def preview_bulk(selection: BulkSelection, cutoff: datetime | None = None) -> BulkPreview:
    """What the act would do now. Changes nothing.

    Args:
        cutoff: of an earlier preview, to see the same again.
    """
    at = cutoff or selectors.database_now()
    sample = queue.sample_bulk(selection, at, SAMPLE_SIZE)
    return BulkPreview(selection, at, queue.count_bulk(selection, at), sample)


def begin_bulk(
    actor: Actor,
    selection: BulkFilter,
    *,
    form_id: UUID,
    cutoff: datetime,
    previewed_count: int | None,
    rate_per_second: object = None,
    reason: object = None,
) -> tuple[BulkAct, bool]:
    """Have the workers act on all that matched before the cutoff, each once.

    What fails again afterwards is not touched again. Safe to repeat: the same form, or the same filter while its act
    is running, gives the act there is.

    Args:
        form_id: of the form on which it was confirmed.
        rate_per_second: at most so many in a second; from 1 to 1000, None means 100.
        reason: needed.

    Returns:
        The act, and whether this call began it.

    Raises:
        InvalidRequest: with all that is wrong.

    Transaction: the caller's, or one of its own.
    """
    fields = Fields({"rate": rate_per_second, "reason": reason})
    rate = fields.whole("rate", least=1, most=RATE_MOST) or RATE_DEFAULT
    text = read_reason(fields, required=True)
    if fields.errors:
        raise InvalidRequest(fields.errors)
    made, begun = queue.begin_bulk(
        selection,
        Act(actor, text),
        form_id=form_id,
        cutoff=cutoff,
        rate_per_second=rate,
        previewed_count=previewed_count,
    )
    if begun:
        _log("bulk_act_begun", made.pk, actor)
    return made, begun


def stop_bulk(act_id: UUID, actor: Actor) -> bool:
    """Stop it behind the batch that is under way. Returns whether this call did it: it was running."""
    stopped = queue.stop_bulk(act_id, actor)
    if stopped:
        _log("bulk_act_stopped", act_id, actor)
    return stopped


def resume_bulk(act_id: UUID, actor: Actor) -> bool:
    """Let it go on from where it stands, with the same cutoff. Returns whether this call did it: it was stopped or had
    failed, and none with the same filter is running."""
    resumed = queue.resume_bulk(act_id, actor)
    if resumed:
        _log("bulk_act_resumed", act_id, actor)
    return resumed


def read_client(fields: Fields) -> UUID | None:
    """The client whose name or id stands in `client`."""
    named = fields.text("client", max_length=LABEL_MAX_LENGTH)
    if named is None:
        return None
    try:
        return accounts.find_client(named).pk
    except NotFound:
        fields.wrong("client", "unknown", "must be the name or the id of a client")
        return None


def read_window(fields: Fields) -> tuple[datetime | None, datetime | None]:
    """The instants in `after` and `before`, of which the second must be the later one."""
    after, before = _instant(fields, "after"), _instant(fields, "before")
    if after and before and after >= before:
        fields.wrong("before", "not_after_begin", "must be later than the beginning of the window")
    return after, before


def _waiting_reason(fields: Fields, action: BulkAction) -> WaitingReason | None:
    """Refused where it would be passed over, and the act done to more than was asked for."""
    given = fields.option("waiting_reason", WaitingReason.__members__)
    if given and Status.PENDING not in STATUSES[action]:
        fields.wrong("waiting_reason", "not_waiting", "must be empty: only what is PENDING waits")
    return WaitingReason[given] if given else None


def _recipient(fields: Fields) -> str | None:
    text = fields.text("recipient", max_length=1024)
    if text is None:
        return None
    try:
        return canonical_filter(text)
    except Invalid as problem:
        fields.wrong("recipient", problem.code, problem.message)
        return None


def _send_at(fields: Fields) -> datetime | None:
    """Bounded as that of a single one. A little in the past, as it is when somebody has taken a while to confirm it,
    means now."""
    send_at = _instant(fields, "send_at", required=True)
    if send_at is None:
        return None
    now = selectors.database_now()
    if send_at > now + timedelta(seconds=AHEAD_MAX_SECONDS):
        fields.wrong("send_at", "too_far_ahead", "must be at most 366 days ahead")
    if send_at < now - CONFIRMED_WITHIN:
        fields.wrong("send_at", "past", "must not be in the past")
    return send_at


def _instant(fields: Fields, name: str, *, required: bool = False) -> datetime | None:
    text = fields.text(name, required=required)
    if text is None:
        return None
    if _NAIVE.fullmatch(text):
        text = f"{text if len(text) > 16 else text + ':00' if len(text) > 10 else text + 'T00:00:00'}Z"
    try:
        # A `+` that was not escaped in an address has become a space.
        return parse_instant(re.sub(r" (\d\d:\d\d)$", r"+\1", text))
    except Invalid as problem:
        fields.wrong(name, problem.code, problem.message)
        return None


def _log(event: str, act_id: UUID, actor: Actor) -> None:
    log.warning(event, extra={"bulk_act_id": str(act_id), "actor_kind": actor.kind.value, "actor": actor.name})
