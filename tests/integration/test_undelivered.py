"""What ended undelivered, in groups and page by page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from notifications.models import Notification
from notifications.queue.retry import MAY_HAVE_BEEN_SENT
from notifications.status import Status
from notifications.undelivered import NONE, Kind, Page, Place, Wanted, groups, page_of, pages, summarize
from notifyq.runtime.ids import uuid7
from tests.support.factories import ClientFactory, NotificationFactory

pytestmark = pytest.mark.django_db
T0 = datetime(2026, 3, 1, 12, tzinfo=UTC)
HELD = {"last_error_code": "UNCONFIRMED", "unconfirmed_provider": "sandbox"}


def at(minutes: float) -> datetime:
    return T0 + timedelta(minutes=minutes)


@pytest.fixture
def shop():
    return ClientFactory(name="shop")


def dead(minutes: float = 0, *, status: Status = Status.DEAD_LETTERED, **columns) -> Notification:
    return NotificationFactory(status=status, finished_at=at(minutes), content=None, **columns)


def found(wanted: Wanted, place: Place | None = None) -> list[object]:
    return [row.pk for row in page_of(wanted, place).rows]


def figures(kind: Kind, order: str = "count") -> list[tuple[object, ...]]:
    return [
        (g.channel, g.provider, g.error_code, g.count, g.held_count, g.first_at, g.last_at)
        for g in summarize(kind, order).groups
    ]


def some_groups(shop) -> None:
    for minutes, columns in (
        (1, {"last_error_code": "timeout"}),
        (5, {"last_error_code": "timeout", "unconfirmed_provider": "sandbox"}),
        (3, {"last_error_code": "timeout"}),
        (2, {"last_error_code": "timeout", "channel": "SMS"}),
        (9, {"last_error_code": "timeout", "last_used_provider": "smtp"}),
        (4, {"last_error_code": "", "last_used_provider": ""}),
        (7, {"status": Status.FAILED, "last_error_code": "timeout"}),
        (8, {"status": Status.FAILED, "last_error_code": "refused"}),
    ):
        dead(minutes, client=shop, last_error_message=f"at {minutes}", **columns)
    NotificationFactory(status=Status.SENT, client=shop)
    NotificationFactory(status=Status.EXPIRED, client=shop)


def test_groups__of_dead_letters__tell_how_many_since_when_and_how_many_may_have_been_sent(shop) -> None:
    some_groups(shop)

    assert figures(Kind.DEAD) == [
        ("EMAIL", "sandbox", "timeout", 3, 1, at(1), at(5)),
        ("EMAIL", "smtp", "timeout", 1, 0, at(9), at(9)),
        ("EMAIL", "", "", 1, 0, at(4), at(4)),
        ("SMS", "sandbox", "timeout", 1, 0, at(2), at(2)),
    ]
    assert [row[1:3] for row in figures(Kind.DEAD, "latest")] == [
        ("smtp", "timeout"),
        ("sandbox", "timeout"),
        ("", ""),
        ("sandbox", "timeout"),
    ]


def test_groups__of_another_kind__are_of_those_alone(shop) -> None:
    some_groups(shop)

    assert figures(Kind.HELD) == [("EMAIL", "sandbox", "timeout", 1, 1, at(5), at(5))]
    assert [(g.error_code, g.status) for g in summarize(Kind.FAILED).groups] == [
        ("refused", Status.FAILED),
        ("timeout", Status.FAILED),
    ]
    assert sum(g.count for g in summarize(Kind.ALL).groups) == 8


def test_summary__counts_each_kind_and_says_what_the_latest_was_told(shop) -> None:
    some_groups(shop)

    summary = summarize(Kind.ALL)

    assert summary.counts == {Kind.DEAD: 6, Kind.HELD: 1, Kind.FAILED: 2, Kind.ALL: 8}
    assert summary.bounded == frozenset()
    assert {g.last_message for g in summary.groups} == {"at 5", "at 2", "at 9", "at 4", "at 7", "at 8"}


def test_summary__of_more_than_are_looked_at__is_of_the_latest(shop, monkeypatch) -> None:
    some_groups(shop)
    monkeypatch.setattr(groups, "GROUPED_MOST", 2)
    monkeypatch.setattr(groups, "GROUPS_MOST", 1)

    summary = summarize(Kind.DEAD, "latest")

    assert summary.bounded == {Kind.DEAD, Kind.HELD, Kind.ALL}
    assert [(g.provider, g.first_at) for g in summary.groups] == [("smtp", at(9))]
    assert summary.left_out == 1
    assert summary.counts == {Kind.DEAD: 2, Kind.HELD: 1, Kind.FAILED: 2, Kind.ALL: 4}
    assert summarize(Kind.DEAD, "latest", most=10).left_out == 0


def test_summary__nothing_there__is_empty() -> None:
    summary = summarize(Kind.ALL)

    assert (summary.groups, summary.left_out) == ([], 0)
    assert set(summary.counts.values()) == {0}


def test_filter__each_by_itself_and_together__keeps_those(shop) -> None:
    rows = {
        "plain": dead(1, client=shop),
        "sms": dead(2, channel="SMS"),
        "smtp": dead(3, last_used_provider="smtp"),
        "untried": dead(4, last_used_provider="", last_error_code=""),
        "code": dead(5, last_error_code="timeout", client=shop),
        "held": dead(6, **HELD),
        "open": dead(7, last_error_code="timeout", unconfirmed_provider="smtp"),
        "failed": dead(8, status=Status.FAILED, client=shop),
    }
    NotificationFactory(status=Status.SENT, client=shop)
    names = {row.pk: name for name, row in rows.items()}

    def kept(**asked) -> str:
        return " ".join(names[pk] for pk in found(Wanted(**asked)))

    assert kept() == "open held code untried smtp sms plain"
    assert kept(kind=Kind.HELD) == "open held"
    held = Notification.objects.filter(MAY_HAVE_BEEN_SENT, status=Status.DEAD_LETTERED)
    assert {names[row.pk] for row in held} == {"open", "held"}  # what can be resolved is what is shown as held
    assert kept(kind=Kind.FAILED) == "failed"
    assert kept(kind=Kind.ALL) == "failed open held code untried smtp sms plain"
    assert kept(channel="SMS") == "sms"
    assert kept(provider="smtp") == "smtp"
    assert kept(provider=NONE) == kept(error_code=NONE) == "untried"
    assert kept(error_code="timeout") == "open code"
    assert kept(client_id=shop.pk) == "code plain"
    assert kept(after=at(3), before=at(6)) == "code untried smtp"
    assert kept(kind=Kind.ALL, client_id=shop.pk, after=at(5)) == "failed code"
    assert kept(kind=Kind.HELD, error_code="timeout", channel="EMAIL", provider="sandbox", before=at(8)) == "open"
    assert kept(error_code="timeout", client_id=shop.pk, ids=[rows["code"].pk, rows["plain"].pk]) == "code"
    assert kept(kind=Kind.ALL, ids=[row.pk for row in rows.values()], before=at(3)) == "sms plain"
    assert kept(ids=[]) == kept(error_code="' OR 1=1 --") == ""


def walk(wanted: Wanted, place: Place | None, older: bool, between=lambda page: None) -> list[Page]:
    found = [page_of(wanted, place)]
    while place := found[-1].older if older else found[-1].newer:
        between(found[-1])
        found.append(page_of(wanted, place))
    return found


@pytest.mark.parametrize("kind", [Kind.DEAD, Kind.ALL])
def test_pages__while_rows_come_and_go__neither_gap_nor_repeat(shop, monkeypatch, kind) -> None:
    monkeypatch.setattr(pages, "SHOWN", 3)
    # Some end at the same instant, as those of one batch do.
    rows = [dead(n // 3, client=shop, status=(Status.DEAD_LETTERED, Status.FAILED)[n % 4 == 0]) for n in range(16)]
    there = [row for row in rows if row.status in kind.statuses]
    expected = [row.pk for row in sorted(there, key=lambda row: (row.finished_at, row.pk), reverse=True)]

    def come_and_go(page: Page) -> None:
        dead(100, client=shop)
        Notification.objects.filter(pk=page.rows[-1].pk).update(
            status=Status.PENDING, finished_at=None, attempt_count=0
        )

    seen = walk(Wanted(kind=kind), None, True, come_and_go)
    assert [row.pk for page in seen for row in page.rows] == expected
    assert all(len(page.rows) == 3 for page in seen[:-1])


def test_pages__there_and_back__are_the_same(shop, monkeypatch) -> None:
    monkeypatch.setattr(pages, "SHOWN", 3)
    for n in range(8):
        dead(n // 2, client=shop)
    there = walk(Wanted(), None, True)
    back = walk(Wanted(), there[-1].newer, False)

    assert [row.pk for page in reversed(back) for row in page.rows] == [
        row.pk for page in there[:-1] for row in page.rows
    ]
    assert there[0].newer is None
    assert back[-1].newer is None


def test_page__beside_what_is_gone__leads_back(shop) -> None:
    row = dead(1, client=shop)

    page = page_of(Wanted(), Place(at(0), row.pk))

    assert (page.rows, page.older) == ([], None)
    assert page.newer is not None
    assert found(Wanted(), page.newer) == [row.pk]


@pytest.mark.parametrize("kind", [Kind.DEAD, Kind.ALL])
def test_pages__few_match__each_looks_no_further_than_its_bound_and_none_is_missed(shop, monkeypatch, kind) -> None:
    monkeypatch.setattr(pages, "SHOWN", 2)
    monkeypatch.setattr(pages, "WALKED_MOST", 4)
    rare = {2, 3, 9, 11, 12}
    for n in range(14):
        status = Status.FAILED if kind is Kind.ALL and n % 3 == 0 else Status.DEAD_LETTERED
        dead(n, client=shop, status=status, last_error_code="rare" if n in rare else "often")
    wanted = Wanted(kind=kind, error_code="rare")

    older = walk(wanted, None, True)
    newer = walk(wanted, Place(at(-1), uuid7(), older=False), False)

    for seen, order in ((older, -1), (newer, 1)):
        minutes = [[int((row.finished_at - T0).total_seconds() / 60) for row in page.rows][::-order] for page in seen]
        assert [n for page in minutes for n in page] == sorted(rare, key=lambda n: n * order)
        assert any(page.is_cut for page in seen)
        assert not seen[-1].is_cut
