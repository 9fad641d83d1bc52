"""The APNs adapter against a peer that fails in every way that HTTP/2 allows."""

import contextlib
import logging
import threading
import time
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
from h2.errors import ErrorCodes

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.deadline import WATCHDOG
from notifications.providers.push.apns import ApnsProvider
from notifications.providers.push.apns_key import TeamKey, TeamTokens, parse_key
from notifications.providers.push.http2 import MAX_ANSWER_BYTES, Http2Caller
from notifications.verdict import Outcome, Verdict
from tests.support.certificate import self_signed
from tests.support.fault_server import FaultServer, Peer, Script, closed_port, silent_port
from tests.support.h2_peer import H2Peer, speaking
from tests.support.push_accounts import KEY_ID, TEAM_ID, TOPIC, apple_key

TIMEOUT_SECONDS = 0.6
GRACE_SECONDS = 5.0
PATIENT_SECONDS = 10.0
IDENTITY = UUID("0190f3c8-0000-7000-8000-0000000000aa")
TOKEN = "00ffab12" * 8


def accepts(peer: H2Peer) -> None:
    while request := peer.read_request():
        peer.answer(request, 200, headers={"apns-id": request.headers["apns-id"].upper()})


def answering(status, body=b"", **headers):
    def script(peer: H2Peer) -> None:
        while request := peer.read_request():
            peer.answer(request, status, body, {name.replace("_", "-"): value for name, value in headers.items()})

    return speaking(script)


def _closes_unread(peer: Peer) -> None:
    peer.wait_for_data()
    peer.reset()


def _closes(peer: H2Peer) -> None:
    peer.read_request()


def _resets(peer: H2Peer) -> None:
    peer.read_request()
    peer.raw.reset()


def _is_silent(peer: H2Peer) -> None:
    peer.read_request()
    peer.raw.wait_until_gone()


def _pings(peer: H2Peer) -> None:
    """Every frame is a sign of life, and none is an answer."""
    peer.read_request()
    while True:
        peer.state.ping(b"12345678")
        peer.flush()
        time.sleep(0.05)


def _drips_body(peer: H2Peer) -> None:
    request = peer.read_request()
    peer.answer(request, 200, headers={"apns-id": str(IDENTITY)}, end=False)
    while True:
        peer.state.send_data(request.stream, b" ")
        peer.flush()
        time.sleep(0.05)


def _ends_in_the_body(peer: H2Peer) -> None:
    peer.answer(peer.read_request(), 410, b'{"reason": "Unreg', end=False)


def _ends_in_the_header(peer: H2Peer) -> None:
    request = peer.read_request()
    peer.state.send_headers(request.stream, [(":status", "200"), ("apns-id", str(IDENTITY))], end_stream=True)
    peer.raw.send(peer.state.data_to_send()[:-7])


def _goes_away(last_stream: int | None) -> Script:
    def script(peer: H2Peer) -> None:
        request = peer.read_request()
        last = request.stream if last_stream is None else last_stream
        peer.state.close_connection(last_stream_id=last)
        peer.flush()
        peer.raw.wait_until_gone()

    return speaking(script)


def _resets_stream(code: ErrorCodes) -> Script:
    def script(peer: H2Peer) -> None:
        peer.state.reset_stream(peer.read_request().stream, code)
        peer.flush()
        peer.raw.wait_until_gone()

    return speaking(script)


def _says(data: bytes, *, stays: bool = False) -> Script:
    def script(peer: Peer) -> None:
        peer.receive()
        peer.send(data)
        if stays:
            peer.wait_until_gone()

    return script


@dataclass(frozen=True)
class Fault:
    name: str
    script: Script
    code: str
    requests: int = 1
    outcome: Outcome = Outcome.UNCONFIRMED


FAULTS = (
    Fault("closed before reading", _closes_unread, "connection_lost", requests=0),
    Fault("closed after reading", speaking(_closes), "connection_lost"),
    Fault("reset after reading", speaking(_resets), "connection_lost"),
    Fault("no answer", speaking(_is_silent), "read_timeout"),
    Fault("dripping pings", speaking(_pings), "read_timeout"),
    Fault("dripping body", speaking(_drips_body), "read_timeout"),
    Fault("truncated body", speaking(_ends_in_the_body), "connection_lost"),
    Fault("truncated header", speaking(_ends_in_the_header), "connection_lost"),
    Fault("goaway after ours", _goes_away(None), "connection_lost"),
    Fault("goaway before ours", _goes_away(0), "connection_ended", outcome=Outcome.TEMPORARY),
    Fault("stream reset", _resets_stream(ErrorCodes.INTERNAL_ERROR), "connection_lost"),
    Fault("stream refused", _resets_stream(ErrorCodes.REFUSED_STREAM), "connection_ended", outcome=Outcome.TEMPORARY),
    Fault("garbage", _says(b"\x00\xff\xfe what is this\r\n\r\n" * 4), "connection_lost", requests=0),
    Fault("HTTP/1.1", _says(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), "connection_lost", requests=0),
    Fault("frame that may not be", _says(b"\x00" * 9, stays=True), "garbled_answer", requests=0),
    Fault("200 and nothing else", answering(200), "no_proof"),
    Fault("200 and another id", answering(200, apns_id=str(uuid4())), "no_proof"),
    Fault("200 and no id", answering(200, apns_id="thanks"), "no_proof"),
    Fault("204", answering(204, apns_id=str(IDENTITY)), "no_proof"),
    Fault("400 of a new reason", answering(400, b'{"reason": "SomethingNew"}'), "no_proof"),
    Fault("400 of no reason", answering(400, b'["BadDeviceToken"]'), "no_proof"),
    Fault("502", answering(502, b"<html>"), "http_502"),
    Fault("503 without a reason", answering(503), "http_503"),
    Fault("redirect", answering(307, location="/3/device/x"), "redirected", outcome=Outcome.PROVIDER_FAULT),
)


@pytest.fixture
def message():
    return Message(IDENTITY, Channel.PUSH, f"apns:{TOKEN}", "private body text", subject="private subject")


@contextlib.contextmanager
def provider_at(url, certificates=None):
    tokens = TeamTokens(TeamKey(KEY_ID, TEAM_ID, parse_key(apple_key())))
    provider = ApnsProvider("apns", tokens, TOPIC, Http2Caller(url, certificates))
    try:
        yield provider
    finally:
        provider.close()


def send(url, message, timeout_seconds=PATIENT_SECONDS, certificates=None):
    with provider_at(url, certificates) as provider:
        began = time.monotonic()
        verdict = provider.send(message, timeout_seconds=timeout_seconds)
        assert time.monotonic() - began < timeout_seconds + GRACE_SECONDS
    assert WATCHDOG.watched_count == 0
    return verdict


def said(verdict):
    return verdict.outcome, verdict.error_code


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_fault__after_the_connection__has_its_verdict_from_one_request(fault, message, caplog):
    caplog.set_level(logging.DEBUG)
    with FaultServer(fault.script) as server:
        verdict = send(server.url, message, TIMEOUT_SECONDS if fault.code == "read_timeout" else PATIENT_SECONDS)

    assert said(verdict) == (fault.outcome, fault.code)
    assert (len(server.requests), server.connections) == (fault.requests, 1)
    assert "private" not in repr(verdict) + caplog.text
    assert TOKEN not in repr(verdict) + caplog.text


def test_answer__longer_than_is_read__is_unconfirmed(message):
    def floods(peer: H2Peer) -> None:
        request = peer.read_request()
        peer.answer(request, 200, headers={"apns-id": str(IDENTITY)}, end=False)
        while True:
            peer.state.send_data(request.stream, b" " * 16_000)
            peer.flush()

    with FaultServer(speaking(floods)) as server:
        verdict = send(server.url, message)

    assert said(verdict) == (Outcome.UNCONFIRMED, "answer_too_large")
    assert str(MAX_ANSWER_BYTES) in verdict.error_message


def test_refused__nobody_listens__is_certainly_not_sent(message):
    assert said(send(f"http://127.0.0.1:{closed_port()}", message)) == (Outcome.TEMPORARY, "connect_refused")


def test_name__does_not_resolve__is_certainly_not_sent(message):
    assert said(send("https://no-such-host.invalid", message)) == (Outcome.TEMPORARY, "dns_failure")


def test_connect__no_answer_to_the_syn__is_certainly_not_sent(message):
    with silent_port() as port:
        assert said(send(f"http://127.0.0.1:{port}", message, TIMEOUT_SECONDS)) == (
            Outcome.TEMPORARY,
            "connect_timeout",
        )


def test_tls__certificate_not_trusted__is_certainly_not_sent(message, tmp_path):
    context, _ = self_signed(tmp_path)
    with FaultServer(speaking(accepts), tls=context) as server:
        assert said(send(server.url, message)) == (Outcome.TEMPORARY, "certificate_untrusted")
    assert server.requests == []


def test_tls__garbage_for_a_handshake__is_certainly_not_sent(message):
    with FaultServer(lambda peer: peer.send(b"220 mail.example.org ESMTP\r\n" * 4)) as server:
        verdict = send(server.url.replace("http:", "https:"), message)

    assert said(verdict) == (Outcome.TEMPORARY, "tls_failure")


@pytest.mark.parametrize(
    "script", [Peer.wait_until_gone, lambda peer: peer.drip(b"\x16\x03\x03\x3f\xff" + b"\x02" * 9999)]
)
def test_tls__handshake_never_ends__is_given_up_in_time_and_certainly_not_sent(script, message):
    with FaultServer(script) as server:
        verdict = send(server.url.replace("http:", "https:"), message, TIMEOUT_SECONDS)

    assert said(verdict) == (Outcome.TEMPORARY, "connect_timeout")


def test_tls__trusted__is_accepted_over_http_2(message, tmp_path):
    context, trusted = self_signed(tmp_path)
    context.set_alpn_protocols(["h2"])
    with FaultServer(speaking(accepts), tls=context) as server:
        verdict = send(server.url, message, certificates=str(trusted))

    assert verdict.outcome is Outcome.ACCEPTED
    assert UUID(verdict.provider_message_id) == IDENTITY


def test_tls__http_2_not_agreed_on__is_the_configurations_fault_and_nothing_is_sent(message, tmp_path):
    context, trusted = self_signed(tmp_path)
    context.set_alpn_protocols(["http/1.1"])
    received = []
    with FaultServer(lambda peer: received.append(peer.receive()), tls=context) as server:
        verdict = send(server.url, message, certificates=str(trusted))

    assert said(verdict) == (Outcome.PROVIDER_FAULT, "not_http2")
    assert received in ([], [b""])


def test_tls__silent_after_the_request__is_given_up_in_time(message, tmp_path):
    context, trusted = self_signed(tmp_path)
    context.set_alpn_protocols(["h2"])
    with FaultServer(speaking(_pings), tls=context) as server:
        verdict = send(server.url, message, TIMEOUT_SECONDS, str(trusted))

    assert said(verdict) == (Outcome.UNCONFIRMED, "read_timeout")


def test_accepted__connection_kept__is_used_again(message):
    with FaultServer(speaking(accepts)) as server, provider_at(server.url) as provider:
        verdicts = [provider.send(message, timeout_seconds=PATIENT_SECONDS) for _ in range(3)]

    assert [v.outcome for v in verdicts] == [Outcome.ACCEPTED] * 3
    assert (len(server.requests), server.connections) == (3, 1)


@pytest.mark.parametrize("politely", [False, True])
def test_kept_connection__ended_while_idle__is_replaced(politely, message):
    closed = threading.Event()

    def once(peer: H2Peer) -> None:
        accepted = peer.read_request()
        peer.answer(accepted, 200, headers={"apns-id": str(IDENTITY)})
        if politely:
            peer.state.close_connection(last_stream_id=accepted.stream)
            peer.flush()
        peer.raw.close()
        closed.set()

    with FaultServer(speaking(once)) as server, provider_at(server.url) as provider:
        first = provider.send(message, timeout_seconds=PATIENT_SECONDS)
        assert closed.wait(5)
        second = provider.send(message, timeout_seconds=PATIENT_SECONDS)

    assert (first.outcome, second.outcome) == (Outcome.ACCEPTED, Outcome.ACCEPTED)
    assert (len(server.requests), server.connections) == (2, 2)


def test_kept_connection__goaway_while_idle_and_open__is_certainly_not_sent_and_then_replaced(message):
    answered, told = threading.Event(), threading.Event()

    def retires(peer: H2Peer) -> None:
        accepted = peer.read_request()
        peer.answer(accepted, 200, headers={"apns-id": str(IDENTITY)})
        answered.wait(5)
        peer.state.close_connection(last_stream_id=accepted.stream)
        peer.flush()
        told.set()
        peer.raw.wait_until_gone()

    with FaultServer(speaking(retires)) as server, provider_at(server.url) as provider:
        provider.send(message, timeout_seconds=PATIENT_SECONDS)
        answered.set()
        assert told.wait(5)
        second = provider.send(message, timeout_seconds=PATIENT_SECONDS)
        third = provider.send(message, timeout_seconds=PATIENT_SECONDS)

    assert (second.outcome, third.outcome) == (Outcome.TEMPORARY, Outcome.ACCEPTED)


def test_kept_connection__lost_after_reading__is_not_sent_again(message):
    def fails_the_second(peer: H2Peer) -> None:
        peer.answer(peer.read_request(), 200, headers={"apns-id": str(IDENTITY)})
        peer.read_request()

    with FaultServer(speaking(fails_the_second)) as server, provider_at(server.url) as provider:
        provider.send(message, timeout_seconds=PATIENT_SECONDS)
        verdict = provider.send(message, timeout_seconds=PATIENT_SECONDS)

    assert said(verdict) == (Outcome.UNCONFIRMED, "connection_lost")
    assert (len(server.requests), server.connections) == (2, 1)


def test_many_threads__some_overdue__end_in_time_and_leave_nothing_behind(message):
    verdicts: list[Verdict] = []

    def every_third_hangs(peer: H2Peer) -> None:
        while request := peer.read_request():
            if len(server.requests) % 3 == 0:
                peer.raw.wait_until_gone()
                return
            peer.answer(request, 200, headers={"apns-id": str(IDENTITY)})

    with FaultServer(speaking(every_third_hangs)) as server, provider_at(server.url) as provider:

        def sends() -> None:
            verdicts.extend(provider.send(message, timeout_seconds=TIMEOUT_SECONDS) for _ in range(4))

        threads = [threading.Thread(target=sends) for _ in range(8)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took_seconds = time.monotonic() - began

    assert len(verdicts) == len(server.requests) == 32
    assert {v.outcome for v in verdicts} == {Outcome.ACCEPTED, Outcome.UNCONFIRMED}
    assert took_seconds < 4 * (TIMEOUT_SECONDS + GRACE_SECONDS)
    assert WATCHDOG.watched_count == 0


def test_environment__names_a_proxy__is_not_followed(message, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("NO_PROXY", "")
    with FaultServer(speaking(accepts)) as server:
        assert send(server.url, message).outcome is Outcome.ACCEPTED
