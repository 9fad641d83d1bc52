"""The console's actions on dead letters: asked for a reason, done by the API's services, recorded."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from notifications.models import Notification, OperatorAction
from notifications.status import Status
from tests.support.factories import NotificationFactory, ago

pytestmark = pytest.mark.django_db
LIST = "admin:notifications_deadletter_changelist"
HELD = {"last_error_code": "UNCONFIRMED", "unconfirmed_provider": "sandbox"}


@pytest.fixture
def console(client, django_user_model):
    client.force_login(django_user_model.objects.create(username="ops", is_staff=True, is_superuser=True))
    return client


def act(console, action, rows, **more):
    data = {"action": action, "_selected_action": [str(row.pk) for row in rows], **more}
    return console.post(reverse(LIST), data, follow=True)


def dead(**columns):
    return NotificationFactory(status=Status.DEAD_LETTERED, **columns)


def test_list__by_kind__shows_those(console):
    rows = {"dead": dead(), "held": dead(**HELD), "failed": NotificationFactory(status=Status.FAILED)}
    NotificationFactory(status=Status.SENT)

    def shown(query):
        ids = {row.pk for row in console.get(reverse(LIST) + query).context["cl"].result_list}
        return {name for name, row in rows.items() if row.pk in ids}, len(ids)

    assert shown("") == ({"dead", "held"}, 2)
    assert shown("?kind=unconfirmed") == ({"held"}, 1)
    assert shown("?kind=failed") == ({"failed"}, 1)
    assert shown("?kind=all") == ({"dead", "held", "failed"}, 3)


def test_retry__chosen__asks_for_a_reason_first(console):
    row = dead(**HELD)

    page = act(console, "retry", [row]).content.decode()

    assert "Reason, for the record" in page
    assert "may have been sent already" in page
    assert Notification.objects.get().status == Status.DEAD_LETTERED


def test_retry__confirmed_without_a_reason__asks_again(console):
    page = act(console, "retry", [dead()], confirmed="yes", reason=" ").content.decode()

    assert "Please give a reason." in page
    assert not OperatorAction.objects.exists()


def test_retry__confirmed__takes_them_back_in_the_users_name(console):
    rows = [dead(), dead()]

    page = act(console, "retry", rows, confirmed="yes", reason="the relay is back").content.decode()

    assert "done for 2 of 2" in page
    assert set(Notification.objects.values_list("status", "operator_retry_count")) == {("PENDING", 1)}
    assert set(OperatorAction.objects.values_list("action", "actor_kind", "actor", "reason")) == {
        ("RETRY", "USER", "ops", "the relay is back")
    }


def test_retry__one_is_past_its_time_to_live__is_left_and_told(console):
    rows = [dead(), dead(expires_at=ago(1))]

    page = act(console, "retry", rows, confirmed="yes", reason="x").content.decode()

    assert "done for 1 of 2" in page
    assert "1 left alone: its time to live is over" in page


@pytest.mark.parametrize(("action", "status"), [("resolve_as_sent", "SENT"), ("resolve_as_failed", "FAILED")])
def test_resolve__held_and_another__decides_only_the_held_one(console, action, status):
    held, other = dead(**HELD), dead()

    page = act(console, action, [held, other], confirmed="yes", reason="asked").content.decode()

    assert "1 left alone: it is not held as unconfirmed" in page
    assert [Notification.objects.get(pk=r.pk).status for r in (held, other)] == [status, Status.DEAD_LETTERED]


def test_actions__without_the_permission__are_not_there(client, django_user_model):
    user = django_user_model.objects.create(username="reader", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_deadletter"))
    client.force_login(user)
    row = dead()

    assert b"Retry" not in client.get(reverse(LIST)).content
    act(client, "retry", [row], confirmed="yes", reason="x")
    assert Notification.objects.get().status == Status.DEAD_LETTERED


def test_page__of_a_notification__shows_what_was_done(console):
    row = dead()
    act(console, "retry", [row], confirmed="yes", reason="the relay is back")

    page = console.get(reverse("admin:notifications_notification_change", args=[row.pk])).content.decode()

    assert "the relay is back" in page
