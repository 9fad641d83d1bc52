"""The page of one notification: what it tells, to whom, and that nothing on it is executed."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from notifications.models import DeadLetter, LookUp, Notification, OperatorAction, Pause, Worker
from notifications.status import Status, WaitingReason
from notifyq.roles import Role
from notifyq.runtime.ids import uuid7
from ratelimits.models import Gate
from tests.support.console import person, words_of
from tests.support.factories import AttemptFactory, ClientFactory, NotificationFactory, ago
from tests.support.webhook_rows import an_endpoint, an_event
from webhooks.models import WebhookAttempt
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db
PLACE = "/admin/notifications/notification/"
HOSTILE = '<script>alert("x")</script>'
ESCAPED = "&lt;script&gt;alert("
HTML = f"<h1>Hello</h1>{HOSTILE}<img src='https://elsewhere.example/pixel'>"
MOST_QUERIES = 20


@pytest.fixture
def operator() -> Client:
    return person(Role.OPERATOR)


@pytest.fixture
def viewer() -> Client:
    return person(Role.VIEWER)


def page_of(browser: Client, row: Notification, *, place: str = PLACE) -> str:
    answer = browser.get(f"{place}{row.pk}/change/")
    assert answer.status_code == 200
    return words_of(answer.content)


def full_story() -> Notification:
    """Something of every kind, each text a stranger's."""
    row = NotificationFactory(
        status=Status.DEAD_LETTERED,
        client=ClientFactory(name=f"Shop {HOSTILE}"),
        recipient="ada.private@example.org",
        reference=HOSTILE,
        idempotency_key=HOSTILE,
        last_error_code="UNCONFIRMED",
        last_error_message=HOSTILE,
        unconfirmed_provider="smtp",
        created_at=ago(900),
        send_at=ago(600),
        group_id=uuid4(),
        content__subject=f"Secret subject {HOSTILE}",
        content__body=f"Secret body {HOSTILE}",
        content__html_body=HTML,
        content__data={"secret-key": HOSTILE},
        content__metadata={HOSTILE: "secret-value"},
    )
    AttemptFactory(notification=row, outcome="UNCONFIRMED", error_code="read_timeout", error_message=HOSTILE)
    OperatorAction.objects.create(
        notification=row, action="RETRY", actor_kind="USER", actor=HOSTILE, reason=HOSTILE, status_before="FAILED"
    )
    event = an_event(an_endpoint("https://hooks.example/in?key=k", client=row.client), notification=row)
    WebhookAttempt.objects.create(
        event=event, cycle=1, number=1, response_status=500, error_code="http_500",
        response_excerpt=f"Secret answer {HOSTILE}", finished_at=ago(1), worker_id="d1", claim_token=uuid7(),
    )  # fmt: skip
    return row


@pytest.mark.parametrize("place", [PLACE, "/admin/notifications/deadletter/"])
def test_page__whole_story__tells_all_of_it_and_escapes_it(operator: Client, place: str) -> None:
    row = full_story()

    page = page_of(operator, row, place=place)

    for told in (
        "decide what became of it", "ada.private@example.org", "Secret subject", "Secret body", "secret-key",
        "secret-value", "Attempt 1.1.1 through sandbox", "read_timeout", "Retried by", "Waited ", "Scheduled for ",
        "Webhook event notification.sent for hooks.example", "Webhook try 1.1 at hooks.example", "http_500",
        "Secret answer", 'class="nq-badge nq-bad">DEAD_LETTERED<',
    ):  # fmt: skip
        assert told in page, told
    assert page.count(ESCAPED) >= 12
    assert "<script>alert" not in page
    assert "key=k" not in page  # an endpoint's address may hold a secret


def test_page__for_a_viewer__hides_recipient_and_contents(viewer: Client) -> None:
    row = full_story()

    page = page_of(viewer, row)

    assert "a…@example.org" in page
    assert not re.search("ada.private|[Ss]ecret|<iframe|/html/", page)
    assert "hidden from your login" in page
    assert "nq-act" not in page
    assert f"recipient_of={row.pk}" in page


def test_page__html_body__is_in_a_frame_without_any_freedom(operator: Client) -> None:
    row = full_story()

    frame = re.search("<iframe[^>]*>", page_of(operator, row))

    assert frame is not None
    assert f'src="{PLACE}{row.pk}/html/"' in frame[0]
    assert re.search(r"\ssandbox\s", frame[0])  # no value: nothing is allowed
    assert 'referrerpolicy="no-referrer"' in frame[0]


def test_page__without_html__has_no_frame(operator: Client) -> None:
    row = NotificationFactory()

    assert "<iframe" not in page_of(operator, row)
    assert operator.get(f"{PLACE}{row.pk}/html/").status_code == 404


def test_html__for_an_operator__is_as_stored_under_a_policy_of_its_own(operator: Client) -> None:
    answer = operator.get(f"{PLACE}{full_story().pk}/html/")

    assert answer.content.decode() == HTML
    assert answer["Content-Type"] == "text/html; charset=utf-8"
    policy = [part.strip() for part in answer["Content-Security-Policy"].split(";")]
    assert policy[:4] == ["sandbox", "default-src 'none'", "style-src 'unsafe-inline'", "img-src data:"]
    assert set(policy[4:]) == {"base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'"}
    assert answer["X-Frame-Options"] == "SAMEORIGIN"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "no-referrer"
    assert "no-store" in answer["Cache-Control"]


def test_html__for_others__is_refused(viewer: Client, client: Client) -> None:
    address = f"{PLACE}{full_story().pk}/html/"

    assert viewer.get(address).status_code == 403
    assert client.get(address).status_code == 302
    assert "/admin/login/" in client.get(address)["Location"]


def test_html__unknown_id__is_404(operator: Client) -> None:
    assert operator.get(f"{PLACE}{uuid4()}/html/").status_code == 404


@pytest.mark.parametrize("identity", ["01a22d95-5c94-7102-81bf-d6416b82a089", "no-id", "1"])
def test_page__unknown_id__says_so_as_the_admin_does(operator: Client, identity: str) -> None:
    answer = operator.get(f"{PLACE}{identity}/change/", follow=True)

    assert answer.redirect_chain[0] == ("/admin/", 302)
    assert "Perhaps it was deleted?" in answer.content.decode()


def test_page__dead_letter_that_was_retried__is_no_dead_letter_any_more(operator: Client) -> None:
    row = NotificationFactory(status=Status.SENT)

    assert not DeadLetter.objects.filter(pk=row.pk, status__in=["FAILED", "DEAD_LETTERED"]).exists()
    assert operator.get(f"/admin/notifications/deadletter/{row.pk}/change/").status_code == 302


def test_page__without_the_permission__is_403(client: Client, django_user_model) -> None:
    client.force_login(django_user_model.objects.create(username="nobody", is_staff=True))

    assert client.get(f"{PLACE}{NotificationFactory().pk}/change/").status_code == 403


@pytest.mark.parametrize("status", Status)
def test_page__each_status__opens_and_says_why(viewer: Client, status: Status) -> None:
    page = page_of(viewer, NotificationFactory(status=status))

    assert re.search(r'<strong class="nq-why">[^<]+.*?\.</strong>', page)
    assert (">refreshes itself" in page or "; refreshes itself" in page) == (
        status in ("PENDING", "PROCESSING", "RECONCILING")
    )


def test_why__behind_a_full_limit__says_when_a_slot_is_expected(viewer: Client) -> None:
    bucket, release_at = uuid4(), ago(-1800)
    Gate.objects.create(bucket=bucket, channel="EMAIL", release_at=release_at)
    row = NotificationFactory(parked_by=bucket, waiting_reason=WaitingReason.RATE_LIMITED)

    page = page_of(viewer, row)

    assert "as many as the limit allows" in page
    assert f'expected about <time class="nq-time" datetime="{release_at.isoformat()}"' in page
    assert f'<dt>Due</dt><dd><time class="nq-time" datetime="{release_at.isoformat()}"' in page


def test_list__of_parked_ones__shows_as_due_when_the_slot_is_expected_by_one_query(viewer: Client) -> None:
    bucket, release_at = uuid4(), ago(-1800)
    Gate.objects.create(bucket=bucket, channel="EMAIL", release_at=release_at)
    for _ in range(3):
        NotificationFactory(parked_by=bucket, waiting_reason=WaitingReason.RATE_LIMITED)

    with CaptureQueriesContext(connection) as asked:
        page = viewer.get("/admin/notifications/notification/").content.decode()

    assert page.count(f'<time class="nq-time" datetime="{release_at.isoformat()}"') == 3
    assert sum("ratelimits_gate" in query["sql"] for query in asked) == 1


@pytest.mark.parametrize(
    ("scope", "value", "what"),
    [
        ("ALL", "", "everything"), ("CHANNEL", "EMAIL", "EMAIL"),
        ("PROVIDER", "sandbox", "provider sandbox"), ("CLIENT", "{client}", "client Shop"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_parked", [True, False])
def test_why__paused__says_what_by_whom(viewer: Client, scope: str, value: str, what: str, is_parked: bool) -> None:
    shop = ClientFactory(name="Shop")
    pause = Pause.objects.create(scope=scope, value=value.format(client=shop.pk), created_by="ada", reason=HOSTILE)
    parked = {"parked_by": pause.parking_id, "waiting_reason": WaitingReason.PAUSED} if is_parked else {}

    page = page_of(viewer, NotificationFactory(client=shop, **parked))

    assert f"Sending of {what} is paused by ada since" in page
    assert ESCAPED in page


def test_why__due__counts_the_workers_that_are_alive(viewer: Client) -> None:
    row = NotificationFactory()
    assert "none is alive" in page_of(viewer, row)

    for name, beat_at in (("w1", ago(1)), ("w2", ago(3600))):
        Worker.objects.create(id=name, role="delivery", host="h", pid=1, beat_at=beat_at)
    for role in ("webhooks", "quarantine"):
        Worker.objects.create(id=role, role=role, host="h", pid=1)
    assert "1 is alive" in page_of(viewer, row)


def test_why__delivery_workers_are_stopped__does_not_count_others(viewer: Client) -> None:
    row, suspect = NotificationFactory(), NotificationFactory(suspect=True)
    for role, beat_at in (("delivery", ago(8)), ("webhooks", ago(1)), ("quarantine", ago(1))):
        Worker.objects.create(id=role, role=role, host="h", pid=1, beat_at=beat_at)

    assert "none is alive" in page_of(viewer, row)
    assert "tried alone; 1 is alive" in page_of(viewer, suspect)


def test_part__asked_for_by_the_script__is_the_story_alone(viewer: Client) -> None:
    row = NotificationFactory(status=Status.PENDING)
    offered = viewer.get(f"{PLACE}{row.pk}/change/").context["offered"]

    part = viewer.get(f"{PLACE}{row.pk}/change/", {"offered": offered}, headers={"X-Console-Part": "1"})

    source = part.content.decode()
    assert "It is due since" in source
    assert "<html" not in source
    assert "What can be done has changed" not in source


def test_part__other_acts_are_legal_by_now__says_so(operator: Client) -> None:
    row = NotificationFactory(status=Status.PENDING)
    offered = operator.get(f"{PLACE}{row.pk}/change/").context["offered"]
    Notification.objects.filter(pk=row.pk).update(status=Status.SENT, finished_at=ago(0))

    part = operator.get(f"{PLACE}{row.pk}/change/", {"offered": offered}, headers={"X-Console-Part": "1"})

    assert "What can be done has changed" in part.content.decode()


def test_neighbours__links__lead_to_what_belongs_together(viewer: Client) -> None:
    shop, group = ClientFactory(), uuid4()
    row = NotificationFactory(client=shop, group_id=group, reference="o 1&2", recipient="ada@example.org")
    same = NotificationFactory(client=shop, group_id=group, reference="o 1&2", recipient="ada@example.org")
    NotificationFactory(client=shop), NotificationFactory(reference="o 1&2")
    elsewhere = NotificationFactory(recipient="ada@example.org")  # another client's

    links = viewer.get(f"{PLACE}{row.pk}/change/").context["neighbours"]

    found = {label: {r.pk for r in viewer.get(address).context["cl"].result_list} for label, address in links}
    assert found == {
        "Same recipient": {row.pk, same.pk, elsewhere.pk},
        "Same group": {row.pk, same.pk},
        "Same reference": {row.pk, same.pk},
    }
    assert not [address for _, address in links if "example.org" in address]


def test_neighbours__of_an_unknown_one__are_none(viewer: Client) -> None:
    NotificationFactory()

    assert (
        list(viewer.get(PLACE, {"recipient_of": "01a22d95-5c94-7102-81bf-d6416b82a089"}).context["cl"].result_list)
        == []
    )


def test_page__however_long_the_story__asks_the_same_number_of_queries(
    operator: Client, django_assert_max_num_queries
) -> None:
    row = full_story()
    AttemptFactory.create_batch(20, notification=row)
    for status in (EventStatus.FAILED, EventStatus.DELIVERED):
        an_event(an_endpoint(client=row.client), notification=row, status=status, sequence=2)
    operator.get(f"{PLACE}{row.pk}/change/")  # content types are looked up once in a process

    with django_assert_max_num_queries(MOST_QUERIES):
        page_of(operator, row)


@pytest.mark.parametrize(
    ("provider", "said", "hours", "expected"),
    [
        ("sandbox", "", 24, "when sandbox can know no more, onUnconfirmed decides: with HOLD it becomes a dead letter"),
        ("sandbox", "not_askable", 1, "when its hour is over, onUnconfirmed decides: with HOLD"),
        ("gone", "", 1, "when its hour is over, onUnconfirmed decides: with HOLD"),
    ],
)
def test_reconciling__what_can_be_done__says_from_when_on_it_is_decided(
    operator: Client, provider: str, said: str, hours: int, expected: str
) -> None:
    since = ago(60)
    row = NotificationFactory(
        status=Status.RECONCILING, on_unconfirmed="HOLD", unconfirmed_provider=provider, unconfirmed_at=since
    )
    if said:
        common = {"cycle": 1, "found": "UNKNOWN", "asked_count": 1, "first_asked_at": ago(9), "last_asked_at": ago(9)}
        LookUp.objects.create(notification=row, provider=provider, error_code=said, **common)
    beside = page_of(operator, row).partition("What can be done")[2].partition("</section>")[0]
    assert expected in beside
    assert f'datetime="{(since + timedelta(hours=hours)).isoformat()}"' in beside
