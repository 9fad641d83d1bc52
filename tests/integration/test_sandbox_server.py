"""The sandbox provider as a real process: what it promises to those who test against it."""

import socket
import threading
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import requests

from notifications.channel import Channel
from notifications.providers.base import Capabilities, Message
from notifications.providers.sandbox import SandboxProvider
from notifications.verdict import Outcome
from tests.support.sandbox import PATIENT_SECONDS, SandboxProcess

pytestmark = pytest.mark.processes

SHORT_SECONDS = 0.5


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with SandboxProcess(tmp_path_factory.mktemp("sandbox") / "store.sqlite3") as process:
        yield process


@pytest.fixture
def sandbox(running):
    running.empty()
    running.set_weather().raise_for_status()
    return running


@pytest.fixture
def adapter(sandbox):
    provider = SandboxProvider("sandbox", Capabilities(), sandbox.url)
    yield provider
    provider.close()


def raw(sandbox, data):
    """Send bytes as they are; the first line of the answer."""
    with socket.create_connection(("127.0.0.1", sandbox.port), timeout=PATIENT_SECONDS) as connection:
        connection.sendall(data)
        return connection.recv(65_536).partition(b"\r\n")[0].decode()


def test_message__new__is_stored_as_it_was_sent(sandbox):
    before = datetime.now(UTC)
    answer = sandbox.post(key="k-1", htmlBody="<b>Hi</b>")

    assert answer.status_code == 202
    [message] = sandbox.messages()
    accepted_at = datetime.fromisoformat(message.pop("acceptedAt"))
    assert before <= accepted_at <= before + timedelta(seconds=PATIENT_SECONDS)
    assert message == {
        "messageId": answer.json()["messageId"],
        "key": "k-1",
        "channel": "EMAIL",
        "recipient": "ada@example.org",
        "subject": "Hello",
        "body": "How are you?",
        "htmlBody": "<b>Hi</b>",
        "repeats": 0,
    }
    assert sandbox.stats() == (1, 1, 0)


def test_message__known_key__gets_the_same_answer_and_is_counted(sandbox):
    first, second = sandbox.post(key="k-1"), sandbox.post(key="k-1", body="another")

    assert (second.status_code, second.json()) == (202, first.json())
    assert [m["repeats"] for m in sandbox.messages()] == [1]
    assert sandbox.stats() == (2, 1, 1)


def test_message__same_key_25_times_at_once__is_stored_once(sandbox):
    barrier, answers = threading.Barrier(25), []

    def post():
        barrier.wait()
        answers.append(sandbox.post(key="k-1").json()["messageId"])

    threads = [threading.Thread(target=post) for _ in range(25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(answers), len(set(answers))) == (25, 1)
    assert sandbox.stats() == (25, 1, 24)


def test_message__known_key_without_idempotency__is_stored_again(sandbox):
    sandbox.set_weather(idempotency=False)
    ids = {sandbox.post(key="k-1").json()["messageId"] for _ in range(2)}

    assert {m["messageId"] for m in sandbox.messages()} == ids
    assert len(ids) == 2
    assert sandbox.stats() == (2, 2, 1)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"channel": "FAX"}, "channel"),
        ({"channel": ["EMAIL"]}, "channel"),
        ({"recipient": 7}, "recipient"),
        ({"recipient": " "}, "recipient"),
        ({"body": {}}, "body"),
        ({"subject": 0}, "subject"),
        ({"body": [1]}, "body"),
        ({"body": "\ud800"}, "body"),
    ],
)
def test_message__wrong_field__is_refused_by_name(sandbox, content, field):
    message = {"channel": "EMAIL", "recipient": "a@b.c", "body": "x", **content}
    answer = requests.post(
        f"{sandbox.url}/messages", json=message, headers={"Idempotency-Key": "k"}, timeout=PATIENT_SECONDS
    )

    assert (answer.status_code, [e["field"] for e in answer.json()["errors"]]) == (400, [field])
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert sandbox.stats() == (1, 0, 0)


MAGIC = [
    ("ok@example.org", Outcome.ACCEPTED, "", 1),
    ("reject@example.org", Outcome.REJECTED, "recipient_rejected", 0),
    ("+491511230001", Outcome.REJECTED, "recipient_rejected", 0),
    ("fcm:temporary", Outcome.TEMPORARY, "not_accepted", 0),
    ("+491511230002", Outcome.TEMPORARY, "not_accepted", 0),
    ("accept-then-timeout@example.org", Outcome.UNCONFIRMED, "read_timeout", 1),
    ("+491511230004", Outcome.UNCONFIRMED, "read_timeout", 1),
    ("apns:accept-then-500", Outcome.UNCONFIRMED, "http_500", 1),
    ("hang@example.org", Outcome.UNCONFIRMED, "read_timeout", 0),
    ("+491511230007", Outcome.TEMPORARY, "throttled", 0),
    ("+491511230000", Outcome.ACCEPTED, "", 1),
]


@pytest.mark.parametrize(("recipient", "outcome", "code", "stored"), MAGIC)
def test_magic_recipient__through_the_adapter__has_its_verdict(sandbox, adapter, recipient, outcome, code, stored):
    channel = Channel.SMS if recipient[0] == "+" else Channel.EMAIL if "@" in recipient else Channel.PUSH
    message = Message(id=uuid4(), channel=channel, recipient=recipient, body="Hello")

    verdict = adapter.send(message, timeout_seconds=SHORT_SECONDS if code == "read_timeout" else PATIENT_SECONDS)

    assert (verdict.outcome, verdict.error_code) == (outcome, code)
    assert [m["key"] for m in sandbox.messages()] == [str(message.id)] * stored
    assert sandbox.stats() == (1, stored, 0)


@pytest.mark.parametrize("recipient", ["accept-then-timeout@example.org", "accept-then-500@example.org"])
def test_magic_recipient__accepted_without_saying_so__confirms_the_repeat(sandbox, adapter, recipient):
    message = Message(id=uuid4(), channel=Channel.EMAIL, recipient=recipient, body="Hello")
    first = adapter.send(message, timeout_seconds=SHORT_SECONDS)
    second = adapter.send(message, timeout_seconds=PATIENT_SECONDS)

    assert (first.outcome, second.outcome) == (Outcome.UNCONFIRMED, Outcome.ACCEPTED)
    assert [m["messageId"] for m in sandbox.messages()] == [second.provider_message_id]


def test_magic_recipient__hang__never_answers(sandbox, adapter):
    message = Message(id=uuid4(), channel=Channel.EMAIL, recipient="hang@example.org", body="Hello")
    verdicts = [adapter.send(message, timeout_seconds=SHORT_SECONDS) for _ in range(2)]

    assert [v.outcome for v in verdicts] == [Outcome.UNCONFIRMED] * 2
    assert sandbox.stats() == (2, 0, 0)


def test_magic_recipient__temporary_twice__is_accepted_the_third_time(sandbox):
    statuses = [sandbox.post("temporary-twice@example.org", key="k-1").status_code for _ in range(4)]

    assert statuses == [503, 503, 202, 202]
    assert sandbox.stats() == (4, 1, 1)
    assert sandbox.post("temporary-twice@example.org", key="k-2").status_code == 503


def test_magic_recipient__rate_limit__says_when(sandbox):
    answer = sandbox.post("rate-limit@example.org")

    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")


def test_magic_recipient__poison__never_proves_anything(sandbox, adapter):
    message = Message(id=uuid4(), channel=Channel.EMAIL, recipient="poison@example.org", body="Hello")
    verdicts = [adapter.send(message, timeout_seconds=PATIENT_SECONDS) for _ in range(8)]

    assert {v.outcome for v in verdicts} == {Outcome.UNCONFIRMED}
    assert {v.error_code for v in verdicts} == {"no_proof", "garbled_answer", "http_503", "answer_too_large"}
    assert sandbox.stats() == (8, 0, 0)


def test_look_up__each_fate__is_told(sandbox):
    sandbox.post("ok@example.org", key="sent")
    sandbox.post("reject@example.org", key="refused")
    sandbox.post("temporary@example.org", key="put off")

    assert sandbox.look_up("sent") == (200, "delivered")
    assert sandbox.look_up("refused") == (200, "failed")
    assert sandbox.look_up("put off") == (404, None)
    assert sandbox.look_up("never seen") == (404, None)


def test_look_up__answer_still_held_back__is_pending(sandbox):
    sandbox.set_weather(latencyMs=60_000)
    with pytest.raises(requests.ReadTimeout):
        sandbox.post(key="slow", timeout_seconds=SHORT_SECONDS)

    assert sandbox.look_up("slow") == (200, "pending")


def test_look_up__not_supported__is_not_mistaken_for_unknown(sandbox):
    sandbox.set_weather(lookup=False)

    assert sandbox.look_up("any") == (501, None)


def test_weather__down__refuses_with_certainty(sandbox):
    sandbox.set_weather(down=True)
    answer = sandbox.post("ok@example.org")

    assert (answer.status_code, answer.json()["code"]) == (503, "not_accepted")
    assert sandbox.look_up("any") == (503, None)
    assert sandbox.stats() == (1, 0, 0)


def test_weather__rates__decide_over_ordinary_recipients_only(sandbox):
    sandbox.set_weather(temporaryRate=1)
    assert (sandbox.post().status_code, sandbox.post("ok@example.org").status_code) == (503, 202)
    sandbox.set_weather(permanentRate=1)
    assert sandbox.post().json()["code"] == "content_rejected"
    sandbox.set_weather(unconfirmedRate=1)
    with pytest.raises(requests.ConnectionError):
        sandbox.post(key="lost")
    assert sandbox.post(key="lost").status_code == 202
    assert sandbox.stats() == (5, 2, 1)


def test_weather__rates_of_a_third_each__each_happen(sandbox):
    sandbox.set_weather(temporaryRate=0.34, permanentRate=0.33)
    statuses = {sandbox.post().status_code for _ in range(100)}

    assert statuses == {202, 422, 503}


def test_weather__limit_per_second__throttles_the_rest(sandbox):
    sandbox.set_weather(rateLimitPerSecond=3)
    answers = [sandbox.post() for _ in range(5)]

    throttled = [a for a in answers if a.status_code == 429]
    assert len(throttled) >= 1
    assert all(a.headers["Retry-After"] == "1" for a in throttled)
    assert [a.status_code for a in answers[:3]] == [202] * 3


def test_weather__latency__holds_the_answer_back(sandbox):
    sandbox.set_weather(latencyMs=300)

    assert sandbox.post().elapsed.total_seconds() >= 0.3


def test_weather__wrong__is_refused_by_name_and_changes_nothing(sandbox):
    sandbox.set_weather(latencyMs=5)
    answer = sandbox.set_weather(latencyMs=-1, wind=3)

    assert answer.status_code == 400
    assert {e["field"] for e in answer.json()["errors"]} == {"latencyMs", "wind"}
    assert sandbox.get("/behaviour")["latencyMs"] == 5


def test_weather__set_again__replaces_all_of_it(sandbox):
    sandbox.set_weather(down=True, latencyMs=5)

    assert sandbox.set_weather(idempotency=False).json() == {
        "latencyMs": 0,
        "jitterMs": 0,
        "temporaryRate": 0,
        "permanentRate": 0,
        "unconfirmedRate": 0,
        "rateLimitPerSecond": 0,
        "idempotency": False,
        "lookup": True,
        "down": False,
    }


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"POST /messages HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: 5\r\n\r\n{{{{{", 400),
        (b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", 400),
        (b"POST /messages HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: 2\r\n\r\n[]", 400),
        (b"POST /messages HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: 4\r\n\r\n\xff\xfe\xfd\xfc", 400),
        (
            b"POST /messages HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: 200000\r\n\r\n"
            + b"[" * 200_000,
            400,
        ),
        (b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"PATCH /messages HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"DELETE /stats HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET http://[::bad/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"what\r\n\r\n", 400),
        (b"BREW /messages HTTP/1.1\r\nHost: x\r\n\r\n", 501),
        (b"GET /messages?key=%ff%00 HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    ],
)
def test_request__bad__is_answered_and_the_server_goes_on(sandbox, request_bytes, status):
    assert raw(sandbox, request_bytes).split()[1] == str(status)
    assert sandbox.post().status_code == 202


def test_requests__bad_posts__are_counted(sandbox):
    raw(sandbox, b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
    raw(sandbox, b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{")

    assert sandbox.stats() == (2, 0, 0)


def test_empty__after_messages__forgets_them_and_the_tries(sandbox):
    sandbox.post("temporary-twice@example.org", key="k-1")
    sandbox.post("reject@example.org", key="k-2")
    sandbox.post()
    sandbox.empty()

    assert (sandbox.messages(), sandbox.stats()) == ([], (0, 0, 0))
    assert sandbox.look_up("k-2") == (404, None)
    assert [sandbox.post("temporary-twice@example.org", key="k-1").status_code for _ in range(2)] == [503, 503]


def test_page__hostile_message__is_shown_as_text(sandbox):
    sandbox.post(key="<i>k</i>", subject="<script>alert(1)</script>", htmlBody='"><script>alert(2)</script>')
    answer = requests.get(sandbox.url, timeout=PATIENT_SECONDS)

    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "script-src 'nonce-" in answer.headers["Content-Security-Policy"]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text
    assert "<script>alert" not in answer.text
    assert "<i>k" not in answer.text


def test_page__text_message__shows_its_segments(sandbox):
    sandbox.post(key="k", channel="SMS", recipient="+14155550100", body="ж" * 71)

    assert "<dt>segments</dt><dd>2 (UCS-2)</dd>" in requests.get(sandbox.url, timeout=PATIENT_SECONDS).text


def test_webhooks__received__are_shown_newest_first_and_count_for_no_message(sandbox):
    counted = sandbox.stats()
    for number in (1, 2):
        hook = {"jobId": str(number)}
        answer = requests.post(f"{sandbox.url}/webhooks", json=hook, headers={"webhook-id": f"e{number}"}, timeout=5)
        assert answer.status_code == 204

    shown = sandbox.get("/webhooks")["webhooks"]
    assert [hook["document"]["jobId"] for hook in shown[:2]] == ["2", "1"]
    assert shown[0]["headers"]["webhook-id"] == "e2"
    assert sandbox.stats() == counted


def test_webhooks__that_are_no_json__are_refused(sandbox):
    answer = requests.post(f"{sandbox.url}/webhooks", data=b"{", timeout=5)
    assert answer.status_code == 400
