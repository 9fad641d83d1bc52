"""The console's acts on dead letters: asked for a reason, done by the API's services, recorded, once."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from notifications import services
from notifications.models import ActorKind, Notification, OperatorAction
from notifications.services import Actor
from notifications.status import Status
from notifyq.roles import Role
from tests.support.factories import NotificationFactory, ago

pytestmark = pytest.mark.django_db
ACT, LIST = "/admin/dead-letters/act/", "/admin/dead-letters/list/"
HELD = {"last_error_code": "UNCONFIRMED", "unconfirmed_provider": "sandbox"}
OPS = Actor(ActorKind.USER, "ops")


@pytest.fixture
def console(client, django_user_model):
    client.force_login(django_user_model.objects.create(username="ops", is_staff=True, is_superuser=True))
    return client


def form(action, rows, **more):
    return {"act": action, "row": [str(row.pk) for row in rows], **more}


def confirmed(action, rows, **more):
    """The form as the page that asks for the reason has it, of rows on which nobody has acted yet."""
    more = {"confirmed": "yes", "reason": "the relay is back"} | more
    return form(action, rows, **more) | {"row": [f"{row.pk}:0" for row in rows]}


def confirm(console, action, rows, **more):
    return console.post(ACT, confirmed(action, rows, **more), follow=True)


def dead(**columns):
    return NotificationFactory(status=Status.DEAD_LETTERED, **columns)


def kill(row, status=Status.DEAD_LETTERED):
    """It failed again."""
    Notification.objects.filter(pk=row.pk).update(status=status, finished_at=ago(0), outcome_sequence=7)


@pytest.mark.parametrize("send", ["get", "post"])
def test_retry__chosen__asks_for_a_reason_first(console, send):
    row = dead(**HELD)

    page = getattr(console, send)(ACT, form("retry", [row])).content.decode()

    assert "Reason, for the record" in page
    assert "may have been sent already" in page
    assert f'value="{row.pk}:0"' in page
    assert Notification.objects.get().status == Status.DEAD_LETTERED


def test_retry__confirmed_without_having_been_shown__only_asks(console):
    page = console.post(ACT, form("retry", [dead()], confirmed="yes", reason="x")).content.decode()

    assert "Reason, for the record" in page
    assert Notification.objects.get().status == Status.DEAD_LETTERED


def test_retry__by_get_with_all_that_a_confirmed_form_has__only_asks(console):
    console.get(ACT, confirmed("retry", [dead()]))

    assert Notification.objects.get().status == Status.DEAD_LETTERED


def test_retry__confirmed_without_a_reason__asks_again(console):
    page = confirm(console, "retry", [dead()], reason=" ").content.decode()

    assert "Please give a reason." in page
    assert not OperatorAction.objects.exists()


def test_retry__confirmed__takes_them_back_in_the_users_name(console):
    rows = [dead(), dead(), NotificationFactory(status=Status.FAILED)]

    page = confirm(console, "retry", rows, back="kind=failed&channel=SMS")

    assert page.redirect_chain == [(f"{LIST}?kind=failed&channel=SMS", 302)]
    assert "done for 3 of 3" in page.content.decode()
    assert set(Notification.objects.values_list("status", "operator_retry_count")) == {("PENDING", 1)}
    assert set(OperatorAction.objects.values_list("action", "actor_kind", "actor", "reason")) == {
        ("RETRY", "USER", "ops", "the relay is back")
    }


def test_retry__sent_twice_and_failed_in_between__happens_once(console):
    row = dead()
    seen = {"act": "retry", "row": [f"{row.pk}:0"], "confirmed": "yes", "reason": "x"}
    console.post(ACT, seen)
    kill(row)

    page = console.post(ACT, seen, follow=True).content.decode()

    assert "1 left alone: since you opened the page, ops has acted on it (RETRY)" in page
    last = OperatorAction.objects.get()
    console.post(ACT, seen | {"row": [f"{row.pk}:{last.pk}"]})  # a fresh look at it
    assert OperatorAction.objects.count() == 2


def test_retry__done_by_somebody_else_meanwhile__says_who_was_first(console):
    row = dead()
    services.retry(row.pk, Actor(ActorKind.API_KEY, "nq_12345"))

    said = confirm(console, "retry", [row]).content.decode()

    assert "1 left alone: since you opened the page, nq_12345 has acted on it (RETRY)" in said
    assert OperatorAction.objects.count() == 1


def test_retry__one_is_past_its_time_to_live__is_left_and_told(console):
    page = confirm(console, "retry", [dead(), dead(expires_at=ago(1))]).content.decode()

    assert "done for 1 of 2" in page
    assert "1 left alone: its time to live stands against it" in page


@pytest.mark.parametrize(("action", "status"), [("resolve-sent", "SENT"), ("resolve-failed", "FAILED")])
def test_resolve__held_and_another__decides_only_the_held_one(console, action, status):
    held, other = dead(**HELD), dead()

    asked = console.post(ACT, form(action, [held, other])).content.decode()
    page = confirm(console, action, [held, other]).content.decode()

    assert "1 of the ticked is left alone" in asked
    assert "1: it is not held as unconfirmed" in asked
    assert "1 left alone: it is not held as unconfirmed" in page
    assert [Notification.objects.get(pk=r.pk).status for r in (held, other)] == [status, Status.DEAD_LETTERED]


@pytest.mark.parametrize(
    "sent",
    [
        {"act": "retry"},
        {"act": "delete", "row": "01a22cbf-5d05-7797-8b38-3cc29ff8d9c8"},
        {"act": "retry", "row": ["x", "01a22cbf-5d05-7797-8b38-3cc29ff8d9c8:-1", "01a22cbf-5d05-7797-8b38:3"]},
        {"row": "01a22cbf-5d05-7797-8b38-3cc29ff8d9c8"},
    ],
)
def test_act__not_readable__does_nothing_and_says_so(console, sent):
    page = console.post(ACT, sent | {"confirmed": "yes", "reason": "x"}, follow=True)

    assert page.redirect_chain[0][0] == LIST
    assert "Nothing was done" in page.content.decode()


def test_act__on_what_does_not_exist__says_so(console):
    sent = {"act": "retry", "row": "01a22cbf-5d05-7797-8b38-3cc29ff8d9c8"}

    asked = console.post(ACT, sent).content.decode()
    assert "Nothing is left to do" in asked
    assert "1: it is not there any more" in asked
    sent["row"] += ":0"
    done = console.post(ACT, sent | {"confirmed": "yes", "reason": "x"}, follow=True).content.decode()
    assert "1 left alone: it is not there any more" in done


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "a=b\r\nX: y", "?x=1#y"])
def test_act__back_to_elsewhere__stays_with_the_list(console, back):
    page = console.post(ACT, confirmed("retry", [dead()], back=back))

    assert page["Location"].split("?")[0] == LIST


@pytest.mark.parametrize(
    ("role", "code"), [(None, 403), (Role.VIEWER, 403), (Role.OPERATOR, 302), (Role.ADMINISTRATOR, 302)]
)
def test_act__by_role__only_operators(client, django_user_model, role, code):
    user = django_user_model.objects.create(username="somebody", is_staff=True)
    user.groups.add(*Group.objects.filter(name=role))
    client.force_login(user)
    row = dead()

    assert client.post(ACT, confirmed("retry", [row])).status_code == code
    assert Notification.objects.get().status == (Status.PENDING if code == 302 else Status.DEAD_LETTERED)


def test_acts__without_the_permission__are_not_offered(client, django_user_model):
    user = django_user_model.objects.create(username="reader", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_deadletter"))
    client.force_login(user)
    dead()

    page = client.get(LIST).content.decode()

    assert "a_reason" in page
    assert "Retry" not in page
    assert "checkbox" not in page


def test_confirmation__of_one_who_may_not_see_recipients__masks_them(client, django_user_model):
    user = django_user_model.objects.create(username="blind", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="operate_notification"))
    client.force_login(user)

    page = client.post(ACT, form("retry", [dead(recipient="ada.private@example.org")])).content.decode()

    assert "a…@example.org" in page
    assert "ada.private" not in page


def test_page__of_a_notification__shows_what_was_done(console):
    row = dead()
    confirm(console, "retry", [row])

    page = console.get(reverse("admin:notifications_notification_change", args=[row.pk])).content.decode()

    assert "the relay is back" in page
