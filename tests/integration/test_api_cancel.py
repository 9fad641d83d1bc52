"""POST /api/v1/notifications/{id}/cancel"""

from uuid import uuid4

import pytest

from notifications.models import Notification
from notifications.status import FINAL, Status
from tests.support.api import NOTIFICATIONS, fields_of
from tests.support.factories import NotificationFactory


def cancel(caller, row):
    return caller.post(f"{NOTIFICATIONS}/{getattr(row, 'pk', row)}/cancel")


def test_cancel__pending__is_cancelled(caller):
    row = NotificationFactory(client=caller.client)

    response = cancel(caller, row)

    answer = response.json()
    assert (response.status_code, answer["status"]) == (200, "CANCELLED")
    assert answer["finishedAt"] is not None
    assert Notification.objects.get().status == Status.CANCELLED


def test_cancel__repeat__answers_200_and_changes_nothing(caller):
    row = NotificationFactory(client=caller.client)
    first = cancel(caller, row).json()

    again = cancel(caller, row)

    assert (again.status_code, again.json()) == (200, first)


@pytest.mark.parametrize("status", sorted((FINAL - {Status.CANCELLED}) | {Status.PROCESSING}))
def test_cancel__no_longer_pending__is_too_late(caller, status):
    row = NotificationFactory(client=caller.client, status=status)

    response = cancel(caller, row)

    assert response.status_code == 409
    assert response.json()["type"].endswith(":too-late")
    assert fields_of(response) == []
    assert Notification.objects.get().status == status


@pytest.mark.parametrize("status", [Status.PENDING, Status.PROCESSING, Status.RECONCILING])
def test_cancel__an_attempt_is_unconfirmed__may_have_been_sent(caller, status):
    row = NotificationFactory(client=caller.client, status=status, unconfirmed_provider="sandbox")

    response = cancel(caller, row)

    assert response.status_code == 409
    assert response.json()["type"].endswith(":may-have-been-sent")
    assert Notification.objects.get().status == status


def test_cancel__another_clients__answers_404_and_changes_nothing(caller):
    row = NotificationFactory()

    assert cancel(caller, row).status_code == 404
    assert Notification.objects.get().status == Status.PENDING


def test_cancel__unknown__answers_404(caller):
    assert cancel(caller, uuid4()).status_code == 404


def test_cancel__operator__may_cancel_anybodys(operator):
    assert cancel(operator, NotificationFactory()).status_code == 200


def test_cancel__something_in_the_body__is_refused(caller):
    row = NotificationFactory(client=caller.client)

    response = caller.post(f"{NOTIFICATIONS}/{row.pk}/cancel", body={"reason": "x"})

    assert fields_of(response) == ["reason"]
    assert Notification.objects.get().status == Status.PENDING


@pytest.mark.parametrize("body", [{}, b""])
def test_cancel__nothing_in_the_body__is_fine(caller, body):
    row = NotificationFactory(client=caller.client)

    assert caller.post(f"{NOTIFICATIONS}/{row.pk}/cancel", body=body).status_code == 200


def test_cancel__empty_form__is_fine(caller):
    row = NotificationFactory(client=caller.client)

    assert caller._http.post(f"{NOTIFICATIONS}/{row.pk}/cancel").status_code == 200
