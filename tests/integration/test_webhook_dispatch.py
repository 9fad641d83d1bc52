"""One pass of the dispatcher against a real receiver: what each kind of answer leads to."""

import json
import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from django.core.management import call_command
from standardwebhooks import WebhookVerificationError

from notifications import selectors
from notifyq import secrets
from notifyq.runtime.logs import JsonFormatter
from tests.support.dispatchers import eventually
from tests.support.fault_server import FaultServer, Peer, closed_port
from tests.support.receiver import Answer, Receiver
from tests.support.webhook_pass import one_pass
from tests.support.webhook_rows import SECRET, an_endpoint, an_event, moved, reloaded, some_events
from webhooks import outcome
from webhooks.dispatch.call import EndpointCaller
from webhooks.models import WebhookAttempt, WebhookEndpoint, WebhookEvent
from webhooks.schedule import WAITS_SECONDS
from webhooks.signing import new_secret
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db(transaction=True)


def wait_of(event):
    """Seconds from the last attempt's end to the next try."""
    event = reloaded(event)
    return (event.due_at - event.attempts.last().finished_at).total_seconds()


def test_event__answered_200__is_delivered_with_its_body_as_it_stands():
    with Receiver() as receiver:
        event = an_event(an_endpoint(receiver.url))
        counts = one_pass()
        (request,) = receiver.requests

    assert counts == {EventStatus.DELIVERED: 1}
    assert request.body == event.body
    assert request.verify(SECRET) == json.loads(event.body)
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == str(event.pk) == request.document["eventId"]
    assert abs(int(request.headers["webhook-timestamp"]) - datetime.now(UTC).timestamp()) < 5
    event = reloaded(event)
    assert (event.status, event.attempt_count, event.last_response_status) == (EventStatus.DELIVERED, 1, 200)
    (attempt,) = event.attempts.all()
    assert (attempt.number, attempt.cycle, attempt.response_status, attempt.error_code) == (1, 1, 200, "")
    assert attempt.response_excerpt == "ok"
    assert attempt.started_at is not None
    assert event.finished_at is not None
    assert attempt.started_at <= attempt.finished_at <= event.finished_at
    assert attempt.worker_id


@pytest.mark.parametrize("status", [201, 204, 299])
def test_event__any_2xx__is_delivered(status):
    with Receiver(lambda _: Answer(status, b"")) as receiver:
        event = an_event(an_endpoint(receiver.url))
        one_pass()

    assert reloaded(event).status == EventStatus.DELIVERED


@pytest.mark.parametrize(
    ("status", "code"), [(500, "http_500"), (503, "http_503"), (400, "http_400"), (404, "http_404"), (429, "http_429")]
)
def test_event__refused__is_tried_again_by_the_schedule(status, code):
    with Receiver(lambda _: Answer(status, b"no")) as receiver:
        endpoint = an_endpoint(receiver.url)
        event = an_event(endpoint)
        assert one_pass() == {EventStatus.PENDING: 1}

    event = reloaded(event)
    assert (event.status, event.attempt_count, event.last_error_code) == (EventStatus.PENDING, 1, code)
    assert WAITS_SECONDS[1] <= wait_of(event) <= WAITS_SECONDS[1] * 1.1 + 0.5
    assert event.attempts.get().response_status == status
    assert WebhookEndpoint.objects.get().failing_since is not None


def test_event__retried__has_the_same_id_and_body_and_a_fresh_timestamp():
    answers = iter([Answer(500), Answer(200)])
    with Receiver(lambda _: next(answers)) as receiver:
        event = an_event(an_endpoint(receiver.url))
        one_pass()
        moved(event, due_at=-1)
        sent_at = int(receiver.requests[0].headers["webhook-timestamp"])
        eventually(lambda: selectors.database_now().timestamp() >= sent_at + 1, 5, "the next second: the header's unit")
        one_pass()
        first, second = receiver.requests

    assert first.event_id == second.event_id
    assert first.body == second.body
    assert int(second.headers["webhook-timestamp"]) > int(first.headers["webhook-timestamp"])
    second.verify(SECRET)
    assert [(a.number, a.response_status) for a in reloaded(event).attempts.all()] == [(1, 500), (2, 200)]
    assert WebhookEndpoint.objects.get().failing_since is None


def test_event__every_attempt_fails__walks_the_schedule_and_ends_failed():
    with Receiver(lambda _: Answer(500)) as receiver:
        event = an_event(an_endpoint(receiver.url))
        for number in range(1, 10):
            one_pass()
            assert WAITS_SECONDS[number] <= wait_of(event) <= WAITS_SECONDS[number] * 1.1 + 0.5
            moved(event, due_at=-1)
        one_pass()

    event = reloaded(event)
    assert (event.status, event.attempt_count) == (EventStatus.FAILED, 10)
    assert event.attempts.count() == 10


def test_event__max_attempts_beyond_the_table__goes_on_with_the_last_wait():
    with Receiver(lambda _: Answer(500)) as receiver:
        event = an_event(an_endpoint(receiver.url), attempt_count=11)
        one_pass(max_attempts=13)

    assert 86_400 <= wait_of(event) <= 86_400 * 1.1 + 0.5


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("120", 120, 135),
        ("9999999", 86_400, 95_041),
        (lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=660), usegmt=True), 600, 727),
        ("0", 5, 20),
        ("soon", 5, 20),
    ],
)
def test_retry_after__of_the_endpoint__is_a_floor_of_at_most_a_day(value, least, most):
    text = value if isinstance(value, str) else value()
    with Receiver(lambda _: Answer(503, headers=(("Retry-After", text),))) as receiver:
        event = an_event(an_endpoint(receiver.url))
        one_pass()

    assert least <= wait_of(event) <= most


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect__to_a_live_receiver__is_a_failure_and_not_followed(status):
    with Receiver() as target, Receiver() as receiver:
        receiver.answer = lambda _: Answer(status, headers=(("Location", target.url),))
        event = an_event(an_endpoint(receiver.url))
        one_pass()

        assert target.requests == []
        assert len(receiver.requests) == 1
    assert reloaded(event).last_error_code == "redirected"
    assert reloaded(event).status == EventStatus.PENDING


def test_gone__once__disables_the_endpoint_and_cancels_what_waits():
    with Receiver(lambda _: Answer(410)) as receiver:
        endpoint = an_endpoint(receiver.url)
        later = an_event(endpoint)
        moved(later, due_at=3600)
        event = an_event(endpoint)
        assert one_pass() == {EventStatus.CANCELLED: 1}
        one_pass()

    endpoint.refresh_from_db()
    assert (endpoint.enabled, endpoint.disabled_reason) == (False, "GONE")
    assert endpoint.disabled_at is not None
    assert (reloaded(event).status, reloaded(event).last_error_code) == (EventStatus.CANCELLED, "gone")
    assert reloaded(later).status == EventStatus.CANCELLED


@pytest.mark.parametrize(("days", "disabled"), [(5.01, True), (4.9, False)])
def test_endpoint__nothing_but_failure_for_days__is_disabled_with_the_reason(days, disabled, caplog):
    with Receiver(lambda _: Answer(500)) as receiver, caplog.at_level(logging.WARNING):
        since = selectors.database_now() - timedelta(days=days)
        endpoint = an_endpoint(receiver.url, failing_since=since)
        an_event(endpoint)
        one_pass()

    endpoint.refresh_from_db()
    assert (not endpoint.enabled, endpoint.disabled_reason) == (disabled, "FAILING" if disabled else "")
    assert endpoint.failing_since == since
    assert any(r.message == "webhook_endpoint_disabled" for r in caplog.records) is disabled


def test_endpoint__one_success_after_days_of_failure__is_well_again():
    with Receiver() as receiver:
        endpoint = an_endpoint(receiver.url, failing_since=selectors.database_now() - timedelta(days=9))
        an_event(endpoint)
        one_pass()

    endpoint.refresh_from_db()
    assert (endpoint.enabled, endpoint.failing_since) == (True, None)


def hang(peer: Peer):
    peer.read_request()
    peer.wait_until_gone()


def drip_head(peer: Peer):
    peer.read_request()
    peer.drip(b"HTTP/1.1 200 OK\r\nX-Pad: " + b"x" * 10_000)


def close_early(peer: Peer):
    peer.read_request()
    peer.close()


def not_http(peer: Peer):
    peer.read_request()
    peer.send(b"SSH-2.0-OpenSSH_9.2\r\n")
    peer.close()


@pytest.mark.parametrize(
    ("script", "code", "timeout_seconds"),
    [
        (hang, "timeout", 0.5),
        (drip_head, "timeout", 0.5),
        (close_early, "connection_lost", 10),
        (not_http, "garbled_answer", 10),
    ],
)
def test_event__broken_answer__is_a_failure_within_the_deadline(script, code, timeout_seconds):
    with FaultServer(script) as server:
        event = an_event(an_endpoint(server.url))
        one_pass(timeout_seconds=timeout_seconds)

    attempt = reloaded(event).attempts.get()
    assert (attempt.error_code, attempt.response_status) == (code, None)
    assert attempt.started_at is not None
    assert (attempt.finished_at - attempt.started_at).total_seconds() < 5
    assert reloaded(event).status == EventStatus.PENDING


def test_event__nobody_listens__is_a_failure():
    event = an_event(an_endpoint(f"http://127.0.0.1:{closed_port()}/"))
    one_pass()

    assert reloaded(event).last_error_code == "connect_refused"


def endless_body(peer: Peer):
    peer.read_request()
    peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        peer.send(b"y\0" * 50_000)


def test_answer__endless_body__keeps_one_kibibyte_and_counts_by_its_status():
    with FaultServer(endless_body) as server:
        event = an_event(an_endpoint(server.url))
        one_pass()

    assert reloaded(event).status == EventStatus.DELIVERED
    assert reloaded(event).attempts.get().response_excerpt == "y\ufffd" * 512


def test_rotation__within_the_overlap__both_secrets_verify():
    old, new = new_secret(), new_secret()
    with Receiver() as receiver:
        an_event(
            an_endpoint(
                receiver.url,
                secret=new,
                previous_secret_encrypted=secrets.encrypt(old),
                previous_expires_at=selectors.database_now() + timedelta(hours=24),
            )
        )
        one_pass()
        (request,) = receiver.requests

    assert len(request.headers["webhook-signature"].split(" ")) == 2
    request.verify(old)
    request.verify(new)


def test_rotation__after_the_overlap__only_the_new_secret_verifies():
    old, new = new_secret(), new_secret()
    with Receiver() as receiver:
        an_event(
            an_endpoint(
                receiver.url,
                secret=new,
                previous_secret_encrypted=secrets.encrypt(old),
                previous_expires_at=selectors.database_now() - timedelta(seconds=1),
            )
        )
        one_pass()
        (request,) = receiver.requests

    request.verify(new)
    with pytest.raises(WebhookVerificationError):
        request.verify(old)


def test_secret__that_no_key_opens__is_a_failure_and_nothing_is_sent(settings):
    with Receiver() as receiver:
        event = an_event(an_endpoint(receiver.url))
        settings.ENCRYPTION_KEYS = ["another key altogether"]
        one_pass()
        assert receiver.requests == []

    assert reloaded(event).last_error_code == "secret_unreadable"
    assert reloaded(event).status == EventStatus.PENDING


def test_bug__in_our_own_code__ends_this_event_and_no_other(monkeypatch, caplog):
    with Receiver() as receiver:
        endpoint = an_endpoint(receiver.url)
        bad, good = some_events(endpoint, 2)
        real = EndpointCaller.call

        def call(self, url, body, headers):
            if headers["webhook-id"] == str(bad.pk):
                raise ZeroDivisionError(body)
            return real(self, url, body, headers)

        monkeypatch.setattr(EndpointCaller, "call", call)
        one_pass()

    assert (reloaded(bad).status, reloaded(bad).last_error_code) == (EventStatus.FAILED, outcome.BUG)
    assert reloaded(good).status == EventStatus.DELIVERED


def test_pass__an_endpoint_that_only_fails__leaves_the_rest_to_the_next():
    with Receiver(lambda _: Answer(500)) as receiver:
        some_events(an_endpoint(receiver.url), 50)
        counts = one_pass()

    assert 3 <= counts[EventStatus.PENDING] <= 8
    assert WebhookEvent.objects.filter(attempt_count=0).count() >= 42


def test_pass__nothing_due__ends_at_once_and_says_so(capsys):
    event = an_event()
    moved(event, due_at=3600)

    call_command("dispatch_webhooks")

    assert capsys.readouterr().out == "webhooks: 0 delivered, 0 to be tried again, 0 failed, 0 cancelled\n"


def test_logs__of_failures__hold_no_secret_url_or_body(caplog):
    with Receiver(lambda _: Answer(500, b"SENSITIVE")) as receiver, caplog.at_level(logging.DEBUG):
        url = receiver.url + "?token=SENSITIVE"
        event = an_event(an_endpoint(url), body='{"reference":"SENSITIVE"}')
        one_pass()

    lines = [JsonFormatter().format(record) for record in caplog.records]
    assert any("webhook_not_delivered" in line for line in lines)
    assert not [line for line in lines if "SENSITIVE" in line or SECRET[6:] in line or receiver.url in line]
    assert WebhookAttempt.objects.filter(event=event).count() == 1
