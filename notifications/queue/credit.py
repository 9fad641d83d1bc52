"""Counting receipts: what a provider reports becomes the delivery status of its notification, and may prove a send."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from notifications.models import Notification, Receipt
from notifications.queue.admission import drop_reserved_slots
from notifications.queue.creditable import Judgement, Row, asked_providers, judge
from notifications.queue.outcomes import announce
from notifications.receipts import DeliveryStatus, strongest
from notifications.receipts.status import proves_acceptance, trouble
from notifications.status import Status, allowed
from notifyq.leasing import Arrays, lock

CONFIRMED_FROM = (Status.PENDING, Status.RECONCILING)


@dataclass(frozen=True, slots=True)
class Report:
    """A stored receipt, as far as it matters here.

    Attributes:
        is_old: it has waited for as long as one may.
    """

    id: int
    provider: str
    key: UUID | None
    provider_message_id: str
    status: DeliveryStatus
    is_old: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", DeliveryStatus(self.status))


@dataclass(frozen=True, slots=True)
class Credited:
    """What became of receipts.

    Attributes:
        looked_count: how many were looked at.
        held_ids: of receipts whose notification somebody holds at this moment.
        receipt_ids: of those that count now; the others wait.
        stray: by provider, those that count for nothing: their notification was not sent through it.
        stray_ids: the same, of receipts.
        confirmed: by (status, channel), the notifications that they have proved to be sent.
    """

    looked_count: int = 0
    held_ids: frozenset[int] = frozenset()
    receipt_ids: frozenset[int] = frozenset()
    stray: Counter[str] = field(default_factory=Counter)
    stray_ids: frozenset[int] = frozenset()
    confirmed: Counter[tuple[str, str]] = field(default_factory=Counter)


_SOUGHT = {"id": "int8", "key": "uuid", "provider": "text", "message_id": "text"}
_COLUMNS = tuple(Row.__dataclass_fields__)


def credit(reports: Sequence[Report]) -> Credited:
    """Count the reports whose notification can be told, is held by no worker or other caller at this moment, and may
    have been sent through who reports. Those of others are kept beside it, and count for nothing.

    A report that carries our key, from the provider at which an attempt may have been sent, proves that it was:
    PENDING or RECONCILING → SENT, told to the clients like any other. Any other state stays; only the delivery status
    follows. While a worker holds the row nothing is decided: its own verdict comes first, and the report after it.

    Transaction: the caller's. Index: the primary key or `notification_message_id`, once per report. Locks: the
    notifications, passing over locked ones, so that it waits for nobody who holds several; then their buckets.
    """
    of = _notifications_of(reports)
    rows = {row.id: row for row in _lock(set(of.values()))}
    judged = _judged(reports, of, rows)
    counted, stray = judged[Judgement.COUNTS], judged[Judgement.STRAY]
    news: defaultdict[UUID, list[Report]] = defaultdict(list)
    for report in counted:
        news[of[report.id]].append(report)
    confirmed = _write(rows, news)
    _mark(counted, of, credited=True)
    _mark(stray, of, credited=False)
    return Credited(
        looked_count=len(reports),
        held_ids=_ids(judged[Judgement.HELD]),
        receipt_ids=_ids(counted),
        stray=Counter(report.provider for report in stray),
        stray_ids=_ids(stray),
        confirmed=confirmed,
    )


def _judged(
    reports: Sequence[Report], of: Mapping[int, UUID], rows: Mapping[UUID, Row]
) -> defaultdict[Judgement, list[Report]]:
    """Without those whose notification is not known."""
    doubted = {of[r.id] for r in reports if r.id in of and _needs_attempts(rows.get(of[r.id]), r.provider)}
    asked = asked_providers(doubted)
    judged: defaultdict[Judgement, list[Report]] = defaultdict(list)
    for report in reports:
        if report.id not in of:
            continue
        row = rows.get(of[report.id])
        if row is None:  # locked by somebody else
            judged[Judgement.HELD].append(report)
            continue
        traces = row.own_traces | asked.get(row.id, set())
        judged[judge(row, report.provider, traces, is_old=report.is_old)].append(report)
    return judged


def _needs_attempts(row: Row | None, provider: str) -> bool:
    """Nearly always the row itself says through whom it went."""
    return row is not None and row.status != Status.PROCESSING and provider not in row.own_traces


def _ids(reports: Sequence[Report]) -> frozenset[int]:
    return frozenset(report.id for report in reports)


def proof(row: Row, news: Sequence[Report]) -> Report | None:
    """What among the reports proves that the attempt in doubt was sent; None when nothing does."""
    if row.status not in CONFIRMED_FROM or not row.unconfirmed_provider:
        return None
    for report in news:
        if report.key == row.id and report.provider == row.unconfirmed_provider and proves_acceptance(report.status):
            return report
    return None


def waiting_proofs(in_doubt: Mapping[UUID, str]) -> dict[UUID, str]:
    """What has come while a worker held the rows, for those whose answer was lost.

    Args:
        in_doubt: id → the provider at which the attempt stays open.

    Returns:
        id → the provider's own id (may be empty), of those that it reports to have taken.

    Index: `receipt_waiting_key`, once per row.
    """
    if not in_doubt:
        return {}
    waiting = Receipt.objects.filter(key__any=list(in_doubt), look_at__isnull=False)
    found = waiting.values_list("key", "provider", "status", "provider_message_id")
    return {
        key: message_id
        for key, provider, status, message_id in found
        if key is not None and in_doubt[key] == provider and proves_acceptance(status)
    }


def _notifications_of(reports: Sequence[Report]) -> dict[int, UUID]:
    """By our key where there is one, else by the provider's own id.

    One look into an index for each: as a join PostgreSQL may choose to read the whole table instead.
    """
    if not reports:
        return {}
    table = Notification._meta.db_table
    arrays = Arrays(_SOUGHT, [(r.id, r.key, r.provider, r.provider_message_id) for r in reports])
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT v.id, COALESCE((SELECT n.id FROM {table} n WHERE n.id = v.key), "  # noqa: S608 (names from code, values bound)
            f"(SELECT n.id FROM {table} n WHERE n.provider_message_id = v.message_id "
            "AND n.provider_message_id <> '' AND n.provider = v.provider LIMIT 1)) "
            f"FROM {arrays.source('v')}",
            arrays.parameters(),
        )
        return {row[0]: row[1] for row in cursor.fetchall() if row[1] is not None}


def _lock(ids: set[UUID]) -> list[Row]:
    if not ids:
        return []
    return [Row(*row) for row in lock(Notification.objects.filter(id__any=sorted(ids)), _COLUMNS, len(ids))]


def _write(rows: Mapping[UUID, Row], news: Mapping[UUID, Sequence[Report]]) -> Counter[tuple[str, str]]:
    changes: list[tuple[Any, ...]] = []
    proved: list[Row] = []
    for identity, reports in news.items():
        row = rows[identity]
        evidence = proof(row, reports)
        status = strongest([row.delivery_status, *(report.status for report in reports)])
        if evidence is not None:
            proved.append(row)
        if evidence is not None or status != row.delivery_status:
            changes.append((identity, status, trouble(status), evidence.provider_message_id if evidence else ""))
    if changes:
        _set_delivery_status(changes)
    if proved:
        _confirm(proved)
    return Counter((Status.SENT.value, row.channel) for row in proved)


def _set_delivery_status(changes: Sequence[tuple[Any, ...]]) -> None:
    """It stands in no index, so the new version of a row stays on its page where there is room. Only trouble does."""
    arrays = Arrays({"id": "uuid", "delivery_status": "text", "trouble": "text", "message_id": "text"}, changes)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {Notification._meta.db_table} n SET delivery_status = v.delivery_status, "  # noqa: S608 (names from code, values bound)
            "reported_trouble = v.trouble, "
            "provider_message_id = COALESCE(NULLIF(v.message_id, ''), n.provider_message_id), updated_at = now() "
            f"FROM {arrays.source('v')} WHERE n.id = v.id",
            arrays.parameters(),
        )


def _confirm(rows: Sequence[Row]) -> None:
    for row in rows:
        if not allowed(Status(row.status), Status.SENT, by="receipt"):
            raise ValueError(f"a receipt may not move a notification from {row.status} to SENT")
    ids = [row.id for row in rows]
    Notification.objects.filter(id__any=ids, status__in=CONFIRMED_FROM).update(
        status=Status.SENT,
        waiting_reason="",
        claim_token=None,  # whoever is just asking the provider about it finds that it is answered
        worker_id="",
        lease_expires_at=None,
        provider=F("unconfirmed_provider"),
        unconfirmed_provider="",
        unconfirmed_at=None,
        last_error_code="",
        last_error_message="",
        suspect=False,
        final_check=False,
        look_up_count=0,
        parked_by=None,
        outcome_sequence=F("outcome_sequence") + 1,
        finished_at=Now(),
        updated_at=Now(),
    )
    announce(ids)
    drop_reserved_slots(ids)


def _mark(reports: Sequence[Report], of: Mapping[int, UUID], *, credited: bool) -> None:
    if not reports:
        return
    arrays = Arrays({"id": "int8", "notification": "uuid"}, [(report.id, of[report.id]) for report in reports])
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {Receipt._meta.db_table} r SET notification_id = v.notification, look_at = NULL, "  # noqa: S608 (names from code, values bound)
            f"credited = %s FROM {arrays.source('v')} WHERE r.id = v.id",
            [credited, *arrays.parameters()],
        )
