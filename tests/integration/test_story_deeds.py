"""The acts on the page of a notification: offered where they are legal, done once, recorded, refused in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from notifications import services
from notifications.models import ActorKind, Notification, OperatorAction
from notifications.services import Actor
from notifications.status import Status
from notifyq.roles import Role
from notifyq.runtime.instants import rfc3339
from tests.support.console import person, words_of
from tests.support.factories import NotificationFactory, ago

pytestmark = pytest.mark.django_db
PLACE = "/admin/notifications/notification/"
HELD = {"last_error_code": "UNCONFIRMED", "unconfirmed_provider": "smtp"}
WAITING = {"reschedule", "cancel"}
DOUBTED = {"retry", "resolve-sent", "resolve-failed"}
DEEDS = sorted(WAITING | DOUBTED)
STATES: list[tuple[dict[str, Any], set[str]]] = [
    ({"status": Status.PENDING}, WAITING),
    ({"status": Status.PENDING, "due_at": datetime(2099, 1, 1, tzinfo=UTC)}, WAITING),
    ({"status": Status.PENDING, "unconfirmed_provider": "smtp"}, set()),
    ({"status": Status.PROCESSING}, set()),
    ({"status": Status.RECONCILING}, set()),
    ({"status": Status.SENT}, set()),
    ({"status": Status.FAILED}, {"retry"}),
    ({"status": Status.DEAD_LETTERED}, {"retry"}),
    ({"status": Status.DEAD_LETTERED, **HELD}, DOUBTED),
    ({"status": Status.CANCELLED}, set()),
    ({"status": Status.EXPIRED}, set()),
]
IDS = [" ".join(map(str, columns.values())) for columns, _ in STATES]


@pytest.fixture
def operator() -> Client:
    return person(Role.OPERATOR, "ops")


def names_offered(browser: Client, row: Notification) -> set[str]:
    page = browser.get(f"{PLACE}{row.pk}/change/").content.decode()
    return set(re.findall(rf'action="{PLACE}{row.pk}/([\w-]+)/"', page))


def post(browser: Client, row: Notification, deed: str, **values: Any) -> str:
    """What the person is told."""
    given = {"reason": "because", "seen": "0"} | ({"delay": "2", "unit": "3600"} if deed == "reschedule" else {})
    answer = browser.post(f"{PLACE}{row.pk}/{deed}/", given | values)
    assert (answer.status_code, answer["Location"]) == (302, f"{PLACE}{row.pk}/change/")
    told = " ".join(str(message) for message in get_messages(answer.wsgi_request))
    browser.cookies.pop("messages", None)
    return told


def standing(row: Notification) -> tuple[Any, ...]:
    return Notification.objects.values_list("status", "send_at", "operator_retry_count", "updated_at").get(pk=row.pk)


@pytest.mark.parametrize(("columns", "legal"), STATES, ids=IDS)
def test_acts__of_each_state__are_offered_where_legal_and_work_there_only(
    operator: Client, columns: dict[str, Any], legal: set[str]
) -> None:
    assert names_offered(operator, NotificationFactory(**columns)) == legal

    for deed in DEEDS:
        row = NotificationFactory(**columns)
        before = standing(row)
        told = post(operator, row, deed)
        assert (standing(row) != before) == (deed in legal), deed
        assert told.startswith("Nothing was done.") == (deed not in legal), told
        assert OperatorAction.objects.filter(notification=row).count() == (deed in legal)


@pytest.mark.parametrize("deed", DEEDS)
def test_acts__by_those_who_may_not__are_neither_offered_nor_done(deed: str, client: Client) -> None:
    row = NotificationFactory(**next(columns for columns, legal in STATES if deed in legal))
    viewer, before = person(Role.VIEWER), standing(row)

    assert names_offered(viewer, row) == set()
    assert viewer.post(f"{PLACE}{row.pk}/{deed}/", {"reason": "because", "seen": "0"}).status_code == 403
    assert "/admin/login/" in client.post(f"{PLACE}{row.pk}/{deed}/", {"reason": "x", "seen": "0"})["Location"]
    assert standing(row) == before


def test_acts__by_an_administrator__are_done() -> None:
    row = NotificationFactory(status=Status.FAILED)

    assert post(person(Role.ADMINISTRATOR), row, "retry").startswith("Retried")


@pytest.mark.parametrize("deed", DEEDS)
def test_acts__by_get__do_nothing(operator: Client, deed: str) -> None:
    row = NotificationFactory(**next(columns for columns, legal in STATES if deed in legal))
    before = standing(row)

    answer = operator.get(f"{PLACE}{row.pk}/{deed}/", {"reason": "because", "seen": "0"})

    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert standing(row) == before


def test_acts__without_the_token_against_forgery__are_refused(django_user_model) -> None:
    row, browser = NotificationFactory(status=Status.FAILED), Client(enforce_csrf_checks=True)
    browser.force_login(django_user_model.objects.create(username="root", is_staff=True, is_superuser=True))

    assert browser.post(f"{PLACE}{row.pk}/retry/", {"reason": "x", "seen": "0"}).status_code == 403
    assert Notification.objects.get().status == Status.FAILED


@pytest.mark.parametrize("deed", DEEDS)
def test_act__sent_twice__has_one_effect(operator: Client, deed: str) -> None:
    row = NotificationFactory(**next(columns for columns, legal in STATES if deed in legal))
    post(operator, row, deed)
    after_first = standing(row)

    told = post(operator, row, deed)

    assert told.startswith("Nothing was done. Since you opened the page, ops has acted on it")
    assert standing(row) == after_first
    assert OperatorAction.objects.count() == 1


def test_retry__in_a_second_window_after_it_failed_again__is_refused_until_the_page_is_loaded_anew(
    operator: Client,
) -> None:
    row = NotificationFactory(status=Status.FAILED)
    post(operator, row, "retry")
    Notification.objects.filter(pk=row.pk).update(status=Status.FAILED, finished_at=ago(0))

    assert "look at it anew" in post(operator, row, "retry")
    seen = re.search(r'name="seen" value="(\d+)"', operator.get(f"{PLACE}{row.pk}/change/").content.decode())
    assert seen is not None
    assert post(operator, row, "retry", seen=seen[1]).startswith("Retried")
    assert Notification.objects.get().operator_retry_count == 2


def test_act__of_another_person_in_between__is_named(operator: Client) -> None:
    row = NotificationFactory(status=Status.DEAD_LETTERED, **HELD)
    services.retry(row.pk, Actor(ActorKind.API_KEY, "nq_abc"), reason="mine")

    told = post(operator, row, "resolve-sent")

    assert "nq_abc has acted on it (RETRY)" in told
    assert Notification.objects.get().status == Status.PENDING


@pytest.mark.parametrize("seen", ["", "x", "-1", "٣", "9" * 40])
def test_act__without_what_was_seen__is_refused(operator: Client, seen: str) -> None:
    row = NotificationFactory(status=Status.FAILED)

    assert "Please use the form" in post(operator, row, "retry", seen=seen)
    assert Notification.objects.get().status == Status.FAILED


@pytest.mark.parametrize("deed", DEEDS)
def test_act__without_a_usable_reason__is_refused(operator: Client, deed: str) -> None:
    row = NotificationFactory(**next(columns for columns, legal in STATES if deed in legal))
    before = standing(row)

    for reason, told in ((" ", "Please give a reason."), ("x" * 501, "reason must be at most 500"), ("\0", "NUL")):
        assert told in post(operator, row, deed, reason=reason)
    assert standing(row) == before


@pytest.mark.parametrize("deed", DEEDS)
def test_act__done__is_recorded_with_who_and_why(operator: Client, deed: str) -> None:
    row = NotificationFactory(**next(columns for columns, legal in STATES if deed in legal))

    post(operator, row, deed, reason=" the <b>relay</b> is back ")

    record = OperatorAction.objects.get()
    assert record.action == deed.partition("-")[0].upper()
    assert (record.actor_kind, record.actor, record.reason) == ("USER", "ops", "the <b>relay</b> is back")
    page = words_of(operator.get(f"{PLACE}{row.pk}/change/").content)
    assert "the &lt;b&gt;relay&lt;/b&gt; is back" in page


@pytest.mark.parametrize(
    ("deed", "status", "code"), [("resolve-sent", Status.SENT, ""), ("resolve-failed", Status.FAILED, "not_delivered")]
)
def test_resolve__each_way__ends_it_so(operator: Client, deed: str, status: Status, code: str) -> None:
    row = NotificationFactory(status=Status.DEAD_LETTERED, **HELD)

    assert post(operator, row, deed) == f"Marked as {'not delivered' if code else 'sent'}: it is {status} now."
    assert Notification.objects.values_list("status", "last_error_code").get() == (status, code)
    assert OperatorAction.objects.get().details == {"outcome": status}
    story = words_of(operator.get(f"{PLACE}{row.pk}/change/").content)
    assert f"Marked as {'not delivered' if code else 'sent'} by ops" in story


def test_resolve__dead_letter_that_was_certainly_not_sent__says_why_not(operator: Client) -> None:
    told = post(operator, NotificationFactory(status=Status.DEAD_LETTERED), "resolve-sent")

    assert told == "Nothing was done. It is not held as unconfirmed."


def test_retry__past_its_time_to_live__asks_for_a_new_one(operator: Client) -> None:
    row = NotificationFactory(status=Status.FAILED, expires_at=ago(60))
    assert 'name="live_hours"' in operator.get(f"{PLACE}{row.pk}/change/").content.decode()
    assert 'name="live_hours"' not in operator.get(f"{PLACE}{NotificationFactory().pk}/change/").content.decode()

    assert "time to live stands against it" in post(operator, row, "retry")
    assert post(operator, row, "retry", live_hours="1.5").startswith("Retried")
    left = Notification.objects.get(pk=row.pk).expires_at - datetime.now(UTC)
    assert timedelta(minutes=89) < left <= timedelta(minutes=90)


@pytest.mark.parametrize("hours", ["soon", "-1", "nan", "inf", "1e9"])
def test_retry__nonsense_for_a_time_to_live__is_refused(operator: Client, hours: str) -> None:
    row = NotificationFactory(status=Status.FAILED, expires_at=ago(60))

    assert "must be a number" in post(operator, row, "retry", live_hours=hours)
    assert Notification.objects.get().status == Status.FAILED


def test_reschedule__to_a_time__is_read_as_utc(operator: Client) -> None:
    row = NotificationFactory()
    at = (datetime.now(UTC) + timedelta(days=2)).replace(second=0, microsecond=0)

    told = post(operator, row, "reschedule", at=f"{at:%Y-%m-%dT%H:%M}", delay="")

    assert f'<time class="nq-time" datetime="{at.isoformat()}"' in told
    assert told.endswith(f"{at:%Y-%m-%d %H:%M:%S} UTC</time>.")
    assert Notification.objects.get().send_at == at
    details = {"sendAt": f"{at:%Y-%m-%dT%H:%M:%S}.000000Z", "previousSendAt": rfc3339(row.send_at)}
    assert OperatorAction.objects.get().details == details


@pytest.mark.parametrize("text", ["{:%Y-%m-%dT%H:%M:%SZ}", "{:%Y-%m-%dT%H:%M:%S+00:00}"])
def test_reschedule__to_a_time_with_its_zone__is_read_in_it(operator: Client, text: str) -> None:
    row = NotificationFactory()
    at = (datetime.now(UTC) + timedelta(days=2)).replace(microsecond=0)

    post(operator, row, "reschedule", at=text.format(at), delay="")
    assert Notification.objects.get().send_at == at
    post(operator, row, "reschedule", at=f"{at + timedelta(hours=5.5):%Y-%m-%dT%H:%M:%S}+05:30", delay="")
    assert Notification.objects.get().send_at == at


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"delay": ""}, "Give either a time or a delay."),
        ({"at": "2030-01-01T00:00"}, "Give either a time or a delay."),
        ({"at": "tomorrow", "delay": ""}, "must be a date and a time"),
        ({"at": "9999-12-31T23:59", "delay": ""}, "at most 366 days ahead"),
        ({"delay": "x"}, "must be a number"),
        ({"delay": "nan"}, "must be a number"),
        ({"delay": "-1"}, "must be a number from 0"),
        ({"delay": "367", "unit": "86400"}, "must be a number from 0 to 366"),
        ({"unit": "7"}, "Choose the unit"),
        ({"unit": ""}, "Choose the unit"),
    ],
)
def test_reschedule__nonsense__is_refused_in_words(operator: Client, values: dict[str, str], told: str) -> None:
    row = NotificationFactory()
    before = standing(row)

    assert told in post(operator, row, "reschedule", **values)
    assert standing(row) == before


def test_reschedule__beyond_its_expiry__is_refused(operator: Client) -> None:
    row = NotificationFactory(expires_at=ago(-60))

    assert "time to live stands against it" in post(operator, row, "reschedule")


@pytest.mark.parametrize("deed", DEEDS)
def test_act__on_an_unknown_one__says_so(operator: Client, deed: str) -> None:
    answer = operator.post(
        f"{PLACE}{uuid4()}/{deed}/", {"reason": "x", "seen": "0", "delay": "1", "unit": "60"}, follow=True
    )

    assert answer.status_code == 200
    assert answer.redirect_chain[-1] == ("/admin/", 302)
    assert "It is not there any more." in answer.content.decode()


def test_forms__each__has_a_label_for_every_field(operator: Client) -> None:
    def ids(pattern: str, page: str) -> list[str]:
        return re.findall(pattern, page.partition('id="acts"')[2])

    found: Callable[[Notification], str] = lambda row: operator.get(f"{PLACE}{row.pk}/change/").content.decode()  # noqa: E731
    for row in (NotificationFactory(), NotificationFactory(status=Status.DEAD_LETTERED, expires_at=ago(1), **HELD)):
        page = found(row)
        fields = ids(r'<(?:input|select) id="([^"]+)"', page)
        assert fields
        assert len(fields) == len(set(fields))
        assert fields == ids(r'<label for="([^"]+)"', page)


def test_act__refused__keeps_its_form_open_with_what_was_typed(operator: Client) -> None:
    row = NotificationFactory(expires_at=ago(-60))
    typed = {"reason": "after the <outage>", "delay": "3", "unit": "86400"}

    told = post(operator, row, "reschedule", **typed)
    page = operator.get(f"{PLACE}{row.pk}/change/").content.decode()

    assert f'<time class="nq-time" datetime="{row.expires_at.isoformat()}"' in told
    form = page[page.index("<summary>Reschedule") - 40 :].split("</details>")[0]
    assert '<details class="nq-act" open>' in form
    assert 'value="after the &lt;outage&gt;"' in form
    assert 'type="number" value="3"' in form
    assert '<option value="86400" selected>' in form
    assert page.count('<details class="nq-act" open') == 1
    assert '<details class="nq-act" open' not in operator.get(f"{PLACE}{row.pk}/change/").content.decode()
