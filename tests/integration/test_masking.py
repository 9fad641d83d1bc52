"""What somebody sees who may look at the queue but not into it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from notifications.models import DeadLetter, Notification
from notifications.status import Status
from notifyq.console import masked
from notifyq.roles import Role
from tests.support.factories import NotificationFactory

pytestmark = pytest.mark.django_db
RECIPIENT, BODY, SUBJECT = "ada.private@example.org", "the private body", "the private subject"


def person(client: Client, users, role: Role) -> Client:
    user = users.objects.create(username=role.value, is_staff=True)
    user.groups.add(Group.objects.get(name=role.value))
    client.force_login(user)
    return client


@pytest.fixture
def row() -> Notification:
    return NotificationFactory(
        status=Status.DEAD_LETTERED, recipient=RECIPIENT, content__body=BODY, content__subject=SUBJECT
    )


def pages(row: Notification) -> list[str]:
    places = [f"/admin/notifications/{model}/" for model in ("notification", "deadletter")]
    lists = [places[0], "/admin/dead-letters/list/"]
    found = [f"{place}?q={RECIPIENT}" for place in lists]
    return [*lists, *(f"{place}{row.pk}/change/" for place in places), *found, f"{lists[1]}?recipient={RECIPIENT}"]


def test_viewer__every_page_of_a_notification__hides_recipient_and_content(client, django_user_model, row) -> None:
    viewer = person(client, django_user_model, Role.VIEWER)
    for address in pages(row):
        answer = viewer.get(address, follow=True)
        assert answer.status_code == 200
        page = answer.content.decode()
        assert "a…@example.org" in page, address
        assert not [private for private in (RECIPIENT, BODY, SUBJECT) if private in page], address


def test_viewer__content__is_refused(client, django_user_model, row) -> None:
    viewer = person(client, django_user_model, Role.VIEWER)
    assert viewer.get("/admin/notifications/content/").status_code == 403
    assert viewer.get(f"/admin/notifications/content/{row.pk}/change/").status_code == 403


def test_viewer__inboxes__are_refused(client, django_user_model) -> None:
    viewer = person(client, django_user_model, Role.VIEWER)
    assert viewer.get("/admin/notifications/inboxentry/").status_code == 403


def test_operator__inboxes__are_shown(client, django_user_model) -> None:
    operator = person(client, django_user_model, Role.OPERATOR)
    assert operator.get("/admin/notifications/inboxentry/").status_code == 200


def test_operator__sees_both(client, django_user_model, row) -> None:
    operator = person(client, django_user_model, Role.OPERATOR)
    page = operator.get(f"/admin/notifications/deadletter/{row.pk}/change/").content.decode()
    assert RECIPIENT in page
    assert BODY in page


def test_viewer__forged_act__changes_nothing(client, django_user_model, row) -> None:
    viewer = person(client, django_user_model, Role.VIEWER)
    form = {"act": "retry", "row": [str(row.pk)], "confirmed": "yes", "reason": "because"}
    viewer.post("/admin/dead-letters/act/", form)
    assert DeadLetter.objects.get().status == Status.DEAD_LETTERED


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("ada@example.org", "a…@example.org"),
        ('"a@b"@example.org', '"…@example.org'),
        ("+41790000123", "+41…23"),
        ("fcm:0123456789", "fcm:…89"),
        ("apns:abc", "apns:…"),
        ("u1", "…"),
    ],
)
def test_masked__tells_addresses_apart__but_gives_none_away(address: str, shown: str) -> None:
    assert masked(address) == shown
