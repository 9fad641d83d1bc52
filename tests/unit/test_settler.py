"""The settler without a database: what it keeps, and what one refused value costs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.db import OperationalError

from notifications import outcome
from notifications.delivery import settler as module
from notifications.delivery.held import Finished, Hop
from notifications.delivery.settler import BATCH_SIZE, Settler
from notifications.outcome import Decision
from notifications.queue import Ending
from notifications.status import Status
from notifications.verdict import Verdict
from notifyq.runtime.clock import elapsed
from tests.support.held import held


class _Database:
    """Stands for `queue.settle` and `queue.release`."""

    def __init__(self) -> None:
        self.away = False
        self.settled: list[Ending] = []
        self.released: list[Ending] = []

    def settle(self, endings: Sequence[Ending]) -> list[Ending]:
        if self.away:
            raise OperationalError
        self.settled += endings
        return list(endings)

    def release(self, endings: Sequence[Ending]) -> int:
        if self.away:
            raise OperationalError
        self.released += endings
        return len(endings)


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> _Database:
    stand_in = _Database()
    monkeypatch.setattr(module, "settle", stand_in.settle)
    monkeypatch.setattr(module, "release", stand_in.release)
    return stand_in


def _finished() -> Finished:
    now = elapsed()
    hop = Hop("sandbox", Verdict.accepted("m-1"), now - 1, now)
    return Finished(held(), Decision(Status.SENT, provider="sandbox", provider_message_id="m-1"), (hop,))


def _given_back() -> Finished:
    row = held()
    return Finished(row, outcome.given_back(row.claimed.standing), give_back=True)


def test_flush_once__writes_what_was_put_in_one_batch_and_says_so(database: _Database) -> None:
    told = []
    settler = Settler("worker", lambda: told.append(settler.unsettled_count))
    rows = [_finished() for _ in range(3)]
    for row in rows:
        settler.put(row)
    assert settler.unsettled_count == 3
    assert settler.flush_once() == 3
    assert [e.id for e in database.settled] == [r.held.claimed.id for r in rows]
    assert [e.token for e in database.settled] == [r.held.claimed.token for r in rows]
    assert told == [0]


def test_flush_once__the_database_is_away__keeps_every_verdict_and_writes_it_later(database: _Database) -> None:
    settler = Settler("worker", lambda: None)
    early = [_finished(), _given_back()]
    for row in early:
        settler.put(row)
    database.away = True
    for _ in range(3):
        with pytest.raises(OperationalError):
            settler.flush_once()
    settler.put(_finished())
    assert (settler.unsettled_count, database.settled) == (3, [])
    database.away = False
    assert settler.flush_once() + settler.flush_once() == 3
    assert len(database.settled) == 2
    assert [e.id for e in database.released] == [early[1].held.claimed.id]
    assert settler.unsettled_count == 0


def test_flush_once__what_was_not_begun__is_released_and_leaves_no_attempt(database: _Database) -> None:
    settler = Settler("worker", lambda: None)
    settler.put(_given_back())
    settler.flush_once()
    assert database.settled == []
    assert [e.attempts for e in database.released] == [()]


def test_flush_once__a_great_many__takes_no_more_than_a_batch_at_a_time(database: _Database) -> None:
    settler = Settler("worker", lambda: None)
    for _ in range(BATCH_SIZE + 1):
        settler.put(_finished())
    assert (settler.flush_once(), settler.flush_once()) == (BATCH_SIZE, 1)


def test_close__writes_what_is_left_and_ends(database: _Database) -> None:
    settler = Settler("worker", lambda: None)
    settler.start()
    for _ in range(10):
        settler.put(_finished())
    assert settler.close(10)
    assert len(database.settled) == 10


def test_close__the_database_stays_away__gives_up_in_time_and_says_that_not_all_is_settled(
    database: _Database,
) -> None:
    database.away = True
    settler = Settler("worker", lambda: None)
    settler.start()
    settler.put(_finished())
    assert not settler.close(0.2)
    assert settler.unsettled_count == 1
    settler._thread.join(10)
    assert not settler.is_alive
