"""Acts on everything that matches a filter: begun, stopped and resumed by people, worked off by the workers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from notifications.models import BULK_ACTIONS, ActorKind, BulkAct, BulkStatus
from notifications.queue.acts import Act, Actor
from notifications.queue.bulk_kinds import Batch, BulkFilter, Place, add_walk, digest_of, walk_of
from notifications.queue.bulk_walk import walk_stored
from notifyq.leasing import Fixed, SecondsSince, in_transaction_bounded

log = logging.getLogger(__name__)

BATCH_MOST = 1_000
BATCH_SECONDS = 0.5
"""How much of its rate a batch takes at least: many tiny ones would cost more than they do."""
PASSES_MOST = 10
"""How often an act begins again for what others held when it came by; after that it is let be."""
TRIES = 5
FAILURES_MOST = 5
FAILURE_WAIT_SECONDS = 5.0


def begin_bulk(
    selection: BulkFilter,
    act: Act,
    *,
    form_id: UUID,
    cutoff: datetime,
    rate_per_second: int,
    previewed_count: int | None,
) -> tuple[BulkAct, bool]:
    """Have the workers act on all that matches.

    Safe to repeat: the same form gives the act it has begun, and so does the same filter while its act is running.

    Returns:
        The act, and whether this call began it.

    Transaction: the caller's, or one of its own.
    """
    stored = selection.as_json()
    digest = digest_of(stored)
    same = Q(form_id=form_id) | Q(action=selection.action, selection_digest=digest, status=BulkStatus.RUNNING)
    columns = {
        "form_id": form_id,
        "action": selection.action,
        "selection": stored,
        "selection_digest": digest,
        "cutoff": cutoff,
        "rate_per_second": rate_per_second,
        "actor_kind": act.actor.kind,
        "actor": act.actor.name,
        "reason": act.reason,
        "previewed_count": previewed_count,
    }
    for _ in range(TRIES):
        made = _make(columns, act.actor)
        if made is not None:
            return made, True
        present = BulkAct.objects.filter(same).order_by("id").first()
        if present is not None:
            return present, False
        # It ended between the two statements.
    raise IntegrityError("an act with this filter comes and goes")


def _make(columns: Mapping[str, Any], actor: Actor) -> BulkAct | None:
    """None where the constraints say that there is one already."""
    try:
        with transaction.atomic():
            made = BulkAct.objects.create(**columns)
            _note(made.pk, "BEGUN", actor)
            return made
    except IntegrityError:
        return None


def stop_bulk(act_id: UUID, actor: Actor) -> bool:
    """RUNNING → STOPPED, behind the batch that is under way. Returns whether this call did it.

    Transaction: the caller's, or one of its own. Locks: the act's row; waits for its batch.
    """
    with transaction.atomic():
        changed = BulkAct.objects.filter(pk=act_id, status=BulkStatus.RUNNING).update(status=BulkStatus.STOPPED)
        if changed:
            _note(act_id, "STOPPED", actor)
    return changed == 1


def resume_bulk(act_id: UUID, actor: Actor) -> bool:
    """STOPPED or FAILED → RUNNING, from where it stands. Returns whether this call did it: False also while another act
    with the same filter is running.

    Transaction: the caller's, or one of its own.
    """
    standing = BulkAct.objects.filter(pk=act_id, status__in=(BulkStatus.STOPPED, BulkStatus.FAILED))
    try:
        with transaction.atomic():
            changed = standing.update(status=BulkStatus.RUNNING, paced_at=Now(), failure_count=0, failure="")
            if changed:
                _note(act_id, "RESUMED", actor)
    except IntegrityError:
        return False
    return changed == 1


def _due() -> QuerySet[BulkAct]:
    return BulkAct.objects.filter(status=BulkStatus.RUNNING, paced_at__lte=Now() - timedelta(seconds=BATCH_SECONDS))


_ANY_DUE = Fixed(lambda: _due().values_list("pk")[:1])


def work_off(burst_seconds: float) -> int:
    """One batch of the running act that has waited longest, as large as its rate allows by now.

    The act's row stays locked until the batch, its counts and the cursor's move are committed together: any number of
    workers may call this at once, one works on an act at a time, and what one that dies had begun is as if it never
    was. What others hold when an act comes by is looked at again in a further pass.

    Args:
        burst_seconds: how much of an unused rate is made up for at most; longer than the pause between two calls.

    Returns:
        How many rows were acted on.

    Raises:
        DatabaseError: the database is away. Whatever else goes wrong is noted in the act.

    Transaction: one short one, none when no act is due. Index: `bulk_act_running`. Locks: the act, passing over locked
    ones; its rows likewise.
    """
    if not _ANY_DUE.rows():
        return 0
    with in_transaction_bounded():
        act = _due().order_by("paced_at").select_for_update(skip_locked=True, no_key=True).first()
        if act is None:
            return 0
        return _work_on(act, burst_seconds)


def _work_on(act: BulkAct, burst_seconds: float) -> int:
    waited = BulkAct.objects.values_list(SecondsSince("paced_at"), flat=True).get(pk=act.pk)
    usable = min(float(waited), burst_seconds)
    limit = min(BATCH_MOST, int(act.rate_per_second * usable))
    if limit < 1:
        return 0
    try:
        with transaction.atomic():
            batch = _walk(act, limit)
    except Exception as error:  # top of a batch: it must not hold up the worker that does this between two claims
        log.exception("bulk_act_batch_failed", extra={"bulk_act_id": str(act.pk)})
        _failed(act, type(error).__name__)
        return 0
    _advance(act, batch, waited - usable + batch.done_count / act.rate_per_second)
    return batch.done_count


def _walk(act: BulkAct, limit: int) -> Batch:
    who = Actor(ActorKind(act.actor_kind), act.actor)
    place = None if act.cursor_id is None else Place(act.cursor_at, act.cursor_id)
    do = Act(who, act.reason, {"bulkAct": str(act.pk)})
    return walk_of(act.action)(act.selection, act.cutoff, place, limit, do)


def _advance(act: BulkAct, batch: Batch, used_seconds: float) -> None:
    """Args: used_seconds: of its rate, by this batch or by having let time pass."""
    changes: dict[str, Any] = {
        "done_count": F("done_count") + batch.done_count,
        "skipped_count": F("skipped_count") + batch.skipped_count,
        "missed_count": F("missed_count") + batch.missed_count,
        "cursor_at": batch.place.at if batch.place else None,
        "cursor_id": batch.place.id if batch.place else None,
        "paced_at": F("paced_at") + timedelta(seconds=used_seconds),
        "worked_at": Now(),
        "failure_count": 0,
    }
    if batch.place is None:
        changes |= _at_the_end(act, batch)
    BulkAct.objects.filter(pk=act.pk).update(**changes)


def _at_the_end(act: BulkAct, batch: Batch) -> Mapping[str, Any]:
    missed = act.missed_count + batch.missed_count
    if missed and act.pass_number < PASSES_MOST:
        # Whoever holds them lets go within STATEMENT_TIMEOUT_SECONDS: the pauses of all passes are longer than that.
        pause = timedelta(seconds=act.pass_number)
        return {"pass_number": act.pass_number + 1, "missed_count": 0, "skipped_count": 0, "paced_at": Now() + pause}
    log.info(
        "bulk_act_done",
        extra={
            "bulk_act_id": str(act.pk),
            "action": act.action,
            "done_count": act.done_count + batch.done_count,
            "skipped_count": act.skipped_count + batch.skipped_count,
            "missed_count": missed,
        },
    )
    return {"status": BulkStatus.DONE, "ended_at": Now()}


def _failed(act: BulkAct, failure: str) -> None:
    failures = act.failure_count + 1
    BulkAct.objects.filter(pk=act.pk).update(
        failure_count=failures,
        failure=failure[:64],
        paced_at=Now() + timedelta(seconds=FAILURE_WAIT_SECONDS * failures),
        status=BulkStatus.FAILED if failures >= FAILURES_MOST else BulkStatus.RUNNING,
    )


def _note(act_id: UUID, what: str, actor: Actor) -> None:
    """Add to the history of an act that this transaction has made or changed, and so holds."""
    now, history = BulkAct.objects.values_list(Now(), "history").get(pk=act_id)
    entry = {"what": what, "kind": actor.kind.value, "by": actor.name, "at": now.isoformat()}
    BulkAct.objects.filter(pk=act_id).update(history=[*history, entry])


for _action in BULK_ACTIONS:
    add_walk(_action, walk_stored)
