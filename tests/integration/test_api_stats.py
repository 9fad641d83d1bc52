"""GET /api/v1/stats"""

import pytest
from django.db import connection

from notifications import counting, services
from notifications.status import Status
from tests.integration.test_api_retry import PLAN_ROWS
from tests.support.api import fields_of
from tests.support.factories import ClientFactory, NotificationFactory, ago

STATS = "/api/v1/stats"


def test_stats__operator__counts_everybodys(operator):
    for status in Status:
        NotificationFactory(status=status)
    NotificationFactory(status=Status.SENT, channel="SMS")
    NotificationFactory(suspect=True)
    NotificationFactory(parked_by="01a22cbf-5d05-7797-8b38-3cc29ff8d9c8", waiting_reason="RATE_LIMITED")

    answer = operator.get(STATS).json()

    expected = {s: {"EMAIL": 1, "SMS": 0, "PUSH": 0, "IN_APP": 0} for s in Status}
    expected["PENDING"]["EMAIL"] = 3
    expected["SENT"]["SMS"] = 1
    assert (answer["counts"], answer["isComplete"]) == (expected, True)


def test_stats__client__counts_only_its_own(caller):
    NotificationFactory()
    NotificationFactory(client=caller.client, status=Status.SENT)

    counts = caller.get(STATS).json()["counts"]

    assert sum(n for by_channel in counts.values() for n in by_channel.values()) == 1
    assert counts["SENT"]["EMAIL"] == 1


@pytest.mark.parametrize("who", ["caller", "operator"])
def test_stats__oldest_due__is_that_of_what_may_be_claimed(who, request):
    caller = request.getfixturevalue(who)
    assert caller.get(STATS).json()["oldestDueAgeSeconds"] is None

    NotificationFactory(client=caller.client, due_at=ago(100))
    NotificationFactory(client=caller.client, due_at=ago(50))
    NotificationFactory(client=caller.client, due_at=ago(-50))

    assert 99 <= caller.get(STATS).json()["oldestDueAgeSeconds"] < 160


@pytest.mark.parametrize("who", ["caller", "operator"])
def test_stats__more_than_are_counted__says_so(who, request, monkeypatch):
    caller = request.getfixturevalue(who)
    monkeypatch.setattr(counting, "COUNTED_MOST", 3)
    NotificationFactory.create_batch(5, client=caller.client)

    answer = caller.get(STATS).json()

    assert (answer["isComplete"], answer["counts"]["PENDING"]["EMAIL"]) == (False, 3)


def test_stats__parameter__is_refused(caller):
    assert fields_of(caller.get(STATS, query={"channel": "SMS"})) == ["channel"]


def test_stats__big_table__every_look_uses_an_index(operator):
    with connection.cursor() as cursor:
        cursor.execute(PLAN_ROWS, [operator.client.pk])
        cursor.execute("ANALYZE notifications_notification")
        # Whether reading all of so small a table seems cheaper depends on what was vacuumed of it, and when.
        cursor.execute("SET LOCAL enable_seqscan = off")
        statements = [counting._COUNT.format(where=where) for _, where in counting._WHERE]
        for statement in [*statements, counting._SENT, counting._OWN, counting.OLDEST_DUE]:
            text = statement % {
                "most": 1_000,  # a small part of the table, as it is of a real one
                "client": f"'{operator.client.pk}'",
                "priorities": "'{0,1,2}'",
            }
            cursor.execute(f"EXPLAIN {text}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert "Seq Scan" not in plan, plan


def test_stats__paused__an_operator_sees_all_and_a_client_what_holds_its_own_up(caller, operator):
    other = ClientFactory()
    services.pause("CHANNEL", "SMS", reason="wrong shop", by="ops")
    services.pause("CLIENT", other.name, by="ops")
    services.pause("CLIENT", caller.client.name, by="ops")

    def shown(who):
        return [(p["scope"], p["value"], p["reason"]) for p in who.get(STATS).json()["pauses"]]

    channel, theirs = ("CHANNEL", "SMS", "wrong shop"), ("CLIENT", str(other.pk), None)
    own = ("CLIENT", str(caller.client.pk), None)
    assert shown(operator) == [channel, theirs, own]
    assert shown(caller) == [channel, own]
