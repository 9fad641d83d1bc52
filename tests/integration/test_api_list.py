"""GET /api/v1/notifications"""

from datetime import timedelta
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from notifications.status import Status
from tests.support.api import NOTIFICATIONS, Caller, fields_of
from tests.support.factories import NotificationFactory, ago


def ids(page):
    return [n["id"] for n in page["results"]]


def follow(caller, url):
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc) == ("http", "testserver")
    return caller.get(f"{parts.path}?{parts.query}").json()


def test_list__own_notifications__newest_first(caller):
    rows = NotificationFactory.create_batch(3, client=caller.client)
    NotificationFactory()

    page = caller.get().json()

    assert ids(page) == [str(r.pk) for r in reversed(rows)]
    assert (page["next"], page["previous"]) == (None, None)


def test_list__operator__sees_everybodys(operator):
    rows = NotificationFactory.create_batch(2)

    assert len(ids(operator.get().json())) == len(rows)


def test_list__body__is_not_shown(caller):
    NotificationFactory(client=caller.client, content__body="private-9f3")

    assert "9f3" not in caller.get().content.decode()


def test_list__many__costs_three_queries(caller, django_assert_max_num_queries):
    NotificationFactory.create_batch(20, client=caller.client)
    caller.get()  # notes the key's use

    with django_assert_max_num_queries(3):  # the key, the page, and whether any provider is out
        caller.get()


def test_list__pages__lead_forth_and_back_over_everything(caller):
    expected = [str(r.pk) for r in reversed(NotificationFactory.create_batch(5, client=caller.client))]

    first = caller.get(query={"limit": 2, "status": "PENDING"}).json()
    second = follow(caller, first["next"])
    third = follow(caller, second["next"])

    assert [ids(p) for p in (first, second, third)] == [expected[:2], expected[2:4], expected[4:]]
    assert (first["previous"], third["next"]) == (None, None)
    back = follow(caller, third["previous"])
    assert ids(back) == expected[2:4]
    assert ids(follow(caller, back["next"])) == expected[4:]
    start = follow(caller, back["previous"])
    assert (ids(start), start["previous"]) == (expected[:2], None)


def test_list__rows_added_meanwhile__shift_no_page(caller):
    expected = [str(r.pk) for r in reversed(NotificationFactory.create_batch(4, client=caller.client))]
    first = caller.get(query={"limit": 2}).json()
    NotificationFactory(client=caller.client)

    assert ids(follow(caller, first["next"])) == expected[2:]


MATCHES = [
    ({"status": "SENT"}, {"status": Status.SENT}),
    ({"status": ["SENT", "FAILED"]}, {"status": Status.FAILED}),
    ({"channel": "SMS"}, {"channel": "SMS"}),
    ({"priority": "HIGH"}, {"priority": 0}),
    ({"recipient": "Ada@EXAMPLE.com"}, {"recipient": "Ada@example.com"}),
    ({"recipient": "+1 415 555 0199"}, {"channel": "SMS", "recipient": "+14155550199"}),
    ({"recipient": "apns:AB"}, {"channel": "PUSH", "recipient": "apns:ab"}),
    ({"reference": "order 1"}, {"reference": "order 1"}),
    ({"userId": "u1"}, {"user_id": "u1"}),
    ({"errorCode": "no_such_address"}, {"status": Status.FAILED, "last_error_code": "no_such_address"}),
    (
        {"deliveryStatus": "BOUNCED"},
        {"status": Status.SENT, "delivery_status": "BOUNCED", "reported_trouble": "BOUNCED"},
    ),
    ({"deliveryStatus": "DELIVERED"}, {"status": Status.SENT, "delivery_status": "DELIVERED"}),
    ({"createdBefore": ago(3600).isoformat()}, {"created_at": ago(7200)}),
    ({"createdAfter": ago(-3600).isoformat()}, {"created_at": ago(-7200)}),
]


@pytest.mark.parametrize(("query", "columns"), MATCHES)
def test_list__filter__shows_only_what_matches(caller, query, columns):
    NotificationFactory.create_batch(2, client=caller.client)
    wanted = NotificationFactory(client=caller.client, **columns)

    assert ids(caller.get(query=query).json()) == [str(wanted.pk)]


def test_list__group__shows_its_members(caller):
    group = uuid4()
    NotificationFactory(client=caller.client)
    members = NotificationFactory.create_batch(2, client=caller.client, group_id=group)

    assert len(ids(caller.get(query={"groupId": str(group)}).json())) == len(members)


def test_list__window_of_time__takes_in_its_start_and_leaves_out_its_end(caller):
    row = NotificationFactory(client=caller.client)
    at, later = row.created_at.isoformat(), (row.created_at + timedelta(seconds=1)).isoformat()

    assert len(ids(caller.get(query={"createdAfter": at, "createdBefore": later}).json())) == 1
    assert ids(caller.get(query={"createdBefore": at}).json()) == []


def test_list__plus_in_a_time_not_escaped__is_understood(caller):
    assert caller.get(f"{NOTIFICATIONS}?createdAfter=2030-01-01T00:00:00+02:00").status_code == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=x", "limit"),
        ("limit=", "limit"),
        ("limit=-1", "limit"),
        ("limit=1e1", "limit"),
        ("limit=%C2%B2", "limit"),
        ("limit=1&limit=2", "limit"),
        ("cursor=", "cursor"),
        ("cursor=x", "cursor"),
        ("cursor=%00", "cursor"),
        ("cursor=ü", "cursor"),
        ("cursor=" + "A" * 5000, "cursor"),
        ("status=sent", "status"),
        ("status=SENT&status=NOPE", "status"),
        ("channel=FAX", "channel"),
        ("deliveryStatus=bounced", "deliveryStatus"),
        ("deliveryStatus=", "deliveryStatus"),
        ("deliveryStatus=BOUNCED&deliveryStatus=REJECTED", "deliveryStatus"),
        ("channel=SMS&channel=EMAIL", "channel"),
        ("priority=0", "priority"),
        ("recipient=nobody", "recipient"),
        ("recipient=", "recipient"),
        ("reference=", "reference"),
        ("reference=%00", "reference"),
        ("reference=" + "r" * 256, "reference"),
        ("groupId=5", "groupId"),
        ("createdAfter=2030-01-01", "createdAfter"),
        ("createdAfter=2030-01-01T00:00:00", "createdAfter"),
        ("createdBefore=yesterday", "createdBefore"),
        ("offset=5", "offset"),
        ("user_id=5", "user_id"),
        ("format=xml", "format"),
        ("=5", ""),
    ],
)
def test_list__bad_parameter__is_named(caller, query, field):
    response = caller.get(f"{NOTIFICATIONS}?{query}")

    assert response.status_code == 400
    assert fields_of(response) == [field]


def test_list__several_bad_parameters__are_all_named(caller):
    assert fields_of(caller.get(query={"status": "x", "channel": "y"})) == ["status", "channel"]


def test_list__all_sorts_of_wrong__are_told_together(caller):
    response = caller.get(f"{NOTIFICATIONS}?offset=5&sort=x&status=x&status=y&channel=FAX&limit=0&cursor=x&limit=1")

    assert set(fields_of(response)) == {"offset", "sort", "status", "channel", "limit", "cursor"}


def test_list__phone_number_with_a_bare_plus__is_told_how_to_write_it(caller):
    response = caller.get(f"{NOTIFICATIONS}?recipient=+14155550100")

    assert fields_of(response) == ["recipient"]
    assert "%2B" in response.json()["errors"][0]["message"]


def test_list__another_clients_recipient__shows_nothing(caller):
    NotificationFactory(client=Caller().client, recipient="ada@example.com")

    assert ids(caller.get(query={"recipient": "ada@example.com"}).json()) == []
