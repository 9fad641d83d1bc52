"""The table of moves, and the database's CHECKs that are derived from the same names."""

from __future__ import annotations

import re

import pytest
from django.db import models

from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.models import Attempt, Notification
from notifications.status import FINAL, OPEN, TRANSITIONS, Status, WaitingReason, allowed
from notifications.verdict import Outcome

OPERATORS = {"operator retry", "resolve"}


def test_transitions__name_each_move_once() -> None:
    moves = [(t.source, t.target, t.by) for t in TRANSITIONS]
    assert len(moves) == len(set(moves))


def test_transitions__out_of_a_final_state__are_an_operators() -> None:
    assert {t.by for t in TRANSITIONS if t.source in FINAL} == OPERATORS
    assert {t.source for t in TRANSITIONS if t.by in OPERATORS} == {Status.FAILED, Status.DEAD_LETTERED}
    # What went out, was taken back or ran out of time stays so.
    assert not [t for t in TRANSITIONS if t.source in (Status.SENT, Status.CANCELLED, Status.EXPIRED)]


def test_transitions__from_every_open_state__lead_to_a_final_one() -> None:
    for start in OPEN:
        assert {t.target for t in TRANSITIONS if t.source == start} & FINAL


def test_transitions__every_state_but_the_first__can_be_reached() -> None:
    assert {t.target for t in TRANSITIONS} == set(Status)


def test_transitions__into_processing__are_the_claims_alone() -> None:
    assert {(t.source, t.by) for t in TRANSITIONS if t.target == Status.PROCESSING} == {(Status.PENDING, "claim")}


def test_allowed__asks_the_table() -> None:
    assert all(allowed(t.source, t.target, by=t.by) for t in TRANSITIONS)
    assert not allowed(Status.SENT, Status.PENDING, by="operator retry")
    assert not allowed(Status.PROCESSING, Status.SENT, by="rescue")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("model", "name", "values"),
    [
        (Notification, "notification_status", set(Status)),
        (Notification, "notification_channel", set(Channel)),
        (Notification, "notification_on_unconfirmed", set(OnUnconfirmed)),
        (Notification, "notification_waiting_reason", {*WaitingReason, "", Status.PENDING}),
        (Notification, "notification_finished", FINAL),
        (Attempt, "attempt_outcome", set(Outcome)),
    ],
)
def test_checks_of_the_database__hold_the_names_of_the_code(
    model: type[models.Model], name: str, values: set[str]
) -> None:
    assert set(re.findall(r"'([^']*)'", _definition(model, name))) == values


@pytest.mark.django_db
def test_checks_of_the_database__hold_the_priorities_of_the_code() -> None:
    listed = _definition(Notification, "notification_priority").partition("ARRAY[")[2].partition("]")[0]
    assert {int(number) for number in re.findall(r"\d+", listed)} == {p.value for p in Priority}


def _definition(model: type[models.Model], name: str) -> str:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND conname = %s",
            [model._meta.db_table, name],
        )
        return str(cursor.fetchone()[0])
