"""What every adapter that speaks HTTP has to get right, whatever its vendor.

Subclass `HttpAdapterConformance` as `Test…`, say how to build the adapter and what its vendor's acceptance looks
like.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar
from uuid import uuid4

import pytest

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.deadline import WATCHDOG
from notifications.providers.http import MAX_ANSWER_BYTES, HttpProvider
from notifications.verdict import Outcome, Verdict
from tests.support.certificate import self_signed
from tests.support.fault_server import FaultServer, Peer, Script, closed_port, silent_port

TIMEOUT_SECONDS = 0.6
"""Of a send that is to end by its timeout. All others have time enough on a busy machine too."""
PATIENT_SECONDS = 10.0
GRACE_SECONDS = 5.0
"""A send that does not keep its deadline takes for ever here, or PATIENT_SECONDS at the least."""

RECIPIENTS = {
    Channel.EMAIL: "ada.private@example.org",
    Channel.SMS: "+4915112345678",
    Channel.PUSH: "fcm:private-token",
}
BODY = "private body text"


def answering(data: bytes, *, keep: bool = False) -> Script:
    """Answer `data` to a request, and close (or serve the next request of the connection)."""

    def script(peer: Peer) -> None:
        while peer.read_request():
            peer.send(data)
            if not keep:
                return

    return script


def http_answer(status: int, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def _closed_unread(peer: Peer) -> None:
    peer.wait_for_data()  # a reset any earlier may end the connecting itself, which is certain
    peer.reset()


def _closed_after_reading(peer: Peer) -> None:
    peer.read_request()


def _reset_after_reading(peer: Peer) -> None:
    peer.read_request()
    peer.reset()


def _no_answer(peer: Peer) -> None:
    peer.read_request()
    peer.wait_until_gone()


def _dripping_status(peer: Peer) -> None:
    peer.read_request()
    peer.drip(b"HTTP/1.1 100 Continue\r\n\r\n", 0.01)


def _dripping_header(peer: Peer) -> None:
    peer.read_request()
    peer.send(b"HTTP/1.1 200 OK\r\n")
    peer.drip(b"X-Padding: a\r\n")


def _dripping_body(peer: Peer) -> None:
    peer.read_request()
    peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    peer.drip(b" ")


def _dripping_body_without_length(peer: Peer) -> None:
    peer.read_request()
    peer.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    peer.drip(b" ")


def _dripping_chunks(peer: Peer) -> None:
    peer.read_request()
    peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    peer.drip(b"1\r\n \r\n", 0.02)


@dataclass(frozen=True)
class Fault:
    """One way to fail after the connection was made, and what the adapter has to say."""

    name: str
    script: Script
    code: str | None
    """None where only the outcome matters: what is in the answer is the adapter's own matter."""
    requests: int = 1
    outcome: Outcome = Outcome.UNCONFIRMED

    @property
    def timeout_seconds(self) -> float:
        return TIMEOUT_SECONDS if self.code == "read_timeout" else PATIENT_SECONDS


FAULTS = (
    Fault("closed before reading", _closed_unread, "connection_lost", requests=0),
    Fault("closed after reading", _closed_after_reading, "connection_lost"),
    Fault("reset after reading", _reset_after_reading, "connection_lost"),
    Fault("no answer", _no_answer, "read_timeout"),
    Fault("dripping interim answers", _dripping_status, "read_timeout"),
    Fault("dripping header", _dripping_header, "read_timeout"),
    Fault("dripping body", _dripping_body, "read_timeout"),
    Fault("dripping body without a length", _dripping_body_without_length, "read_timeout"),
    Fault("dripping chunks", _dripping_chunks, "read_timeout"),
    Fault("truncated status line", answering(b"HTTP/1.1 2"), None),
    Fault("truncated header", answering(b"HTTP/1.1 200 OK\r\nContent-Le"), None),
    Fault("truncated body", answering(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), "truncated_answer"),
    Fault(
        "partial chunk",
        answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n{"),
        "truncated_answer",
    ),
    Fault(
        "chunk of no length",
        answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{"),
        "truncated_answer",
    ),
    Fault("two lengths", answering(b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n{}"), None),
    Fault("huge body", answering(http_answer(200, b" " * (MAX_ANSWER_BYTES + 1))), "answer_too_large"),
    Fault(
        "huge redirect", answering(http_answer(302, b" " * (MAX_ANSWER_BYTES + 1), Location="/")), "answer_too_large"
    ),
    Fault("huge header", answering(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"), "garbled_answer"),
    Fault("garbage", answering(b"\x00\xff\xfe what is this\r\n\r\n"), "garbled_answer"),
    Fault("not the encoding it says", answering(http_answer(200, b"{}", Content_Encoding="gzip")), "garbled_answer"),
    Fault("200 and nothing else", answering(http_answer(200)), "no_proof"),
    Fault("200 and no JSON", answering(http_answer(200, b"<html>welcome</html>")), "no_proof"),
    Fault("200 and no text", answering(http_answer(200, b'{"\xff\xfe\xc3(')), "no_proof"),
    Fault("200 and too deep", answering(http_answer(200, b"[" * 100_000)), "no_proof"),
    Fault("200 and a list", answering(http_answer(200, b"[1, null, 1e999]")), "no_proof"),
    Fault("204", answering(http_answer(204)), "no_proof"),
    Fault("500", answering(http_answer(500, b"{}")), "http_500"),
    Fault("502", answering(http_answer(502, b"<html>bad gateway</html>")), "http_502"),
    Fault("504", answering(http_answer(504, b"[]", Retry_After="x")), "http_504"),
    Fault("401", answering(http_answer(401, b"{}")), None, outcome=Outcome.PROVIDER_FAULT),
    Fault("403", answering(http_answer(403, b"{}")), None, outcome=Outcome.PROVIDER_FAULT),
    Fault("redirect", answering(http_answer(307, Location="/messages")), "redirected", outcome=Outcome.PROVIDER_FAULT),
    Fault(
        "redirect to no URL",
        answering(http_answer(302, Location="http://[::bad")),
        "redirected",
        outcome=Outcome.PROVIDER_FAULT,
    ),
    Fault("throttled", answering(http_answer(429, b"{}", Retry_After="7")), None, outcome=Outcome.TEMPORARY),
)


class HttpAdapterConformance(ABC):
    """Every fault, its verdict, and that exactly one request was made of one connection."""

    channel: ClassVar[Channel]
    acceptance: ClassVar[bytes]
    """A complete HTTP answer by which the vendor accepts a message, with its length and without `Connection`."""

    @abstractmethod
    def build(self, url: str) -> HttpProvider:
        """The adapter, pointed at a server at `url` (scheme, host and port)."""

    @pytest.fixture
    def message(self) -> Message:
        return Message(
            id=uuid4(), channel=self.channel, recipient=RECIPIENTS[self.channel], subject="private subject", body=BODY
        )

    @contextlib.contextmanager
    def provider(self, url: str) -> Iterator[HttpProvider]:
        provider = self.build(url)
        try:
            yield provider
        finally:
            provider.close()

    def send(self, url: str, message: Message, *, timeout_seconds: float = PATIENT_SECONDS) -> tuple[Verdict, float]:
        with self.provider(url) as provider:
            began = time.monotonic()
            verdict = provider.send(message, timeout_seconds=timeout_seconds)
            return verdict, time.monotonic() - began

    @pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
    def test_fault__after_the_connection__has_its_verdict_from_one_request(self, fault, message, caplog):
        caplog.set_level(logging.DEBUG)
        with FaultServer(fault.script) as server:
            verdict, took_seconds = self.send(server.url, message, timeout_seconds=fault.timeout_seconds)

        assert (verdict.outcome, fault.code or verdict.error_code) == (fault.outcome, verdict.error_code)
        assert verdict.error_code
        assert (len(server.requests), server.connections) == (fault.requests, 1)
        assert took_seconds < TIMEOUT_SECONDS + GRACE_SECONDS
        self.assert_private(message, repr(verdict) + caplog.text)

    @pytest.mark.parametrize("status", [400, 401, 422, 500])
    def test_refusal__that_repeats_what_was_sent__is_told_without_it(self, status, message, caplog):
        caplog.set_level(logging.DEBUG)

        def repeats(peer: Peer) -> None:
            request = peer.read_request().decode("latin-1")
            text = f"Maximum credits exceeded for {message.recipient}: {BODY}; {message.subject}; {request}"
            problems = [{"message": text, "field": "zzz"}]
            document = {"message": text, "errors": problems, "detail": text, "error": {"message": text}, "msg": text}
            peer.send(http_answer(status, json.dumps(document).encode()))

        with FaultServer(repeats) as server:
            verdict, _ = self.send(server.url, message)

        assert "Maximum credits exceeded for [hidden]" in verdict.error_message
        assert "Maximum" not in caplog.text
        self.assert_private(message, repr(verdict) + caplog.text)

    def test_throttled__with_retry_after__carries_the_wish(self, message):
        with FaultServer(answering(http_answer(429, b"{}", Retry_After="7"))) as server:
            verdict, _ = self.send(server.url, message)

        assert verdict.throttled
        assert verdict.retry_after_seconds == 7

    def test_refused__nobody_listens__is_certainly_not_sent(self, message):
        verdict, _ = self.send(f"http://127.0.0.1:{closed_port()}", message)

        assert (verdict.outcome, verdict.error_code) == (Outcome.TEMPORARY, "connect_refused")

    def test_name__does_not_resolve__is_certainly_not_sent(self, message):
        verdict, took_seconds = self.send("http://no-such-host.invalid:8026", message)

        assert (verdict.outcome, verdict.error_code) == (Outcome.TEMPORARY, "dns_failure")
        assert took_seconds < TIMEOUT_SECONDS + GRACE_SECONDS

    def test_connect__no_answer_to_the_syn__is_certainly_not_sent(self, message):
        with silent_port() as port:
            verdict, took_seconds = self.send(f"http://127.0.0.1:{port}", message, timeout_seconds=TIMEOUT_SECONDS)

        assert (verdict.outcome, verdict.error_code) == (Outcome.TEMPORARY, "connect_timeout")
        assert took_seconds < TIMEOUT_SECONDS + GRACE_SECONDS

    def test_tls__certificate_not_trusted__is_certainly_not_sent(self, message, tmp_path):
        context, _ = self_signed(tmp_path)
        with FaultServer(answering(self.acceptance), tls=context) as server:
            verdict, _ = self.send(server.url, message)

        assert (verdict.outcome, verdict.error_code) == (Outcome.TEMPORARY, "certificate_untrusted")
        assert server.requests == []

    def test_tls__garbage_for_a_handshake__is_unconfirmed(self, message):
        with FaultServer(lambda peer: peer.send(b"220 mail.example.org ESMTP\r\n" * 4)) as server:
            verdict, _ = self.send(server.url.replace("http:", "https:"), message)

        assert (verdict.outcome, verdict.error_code) == (Outcome.UNCONFIRMED, "tls_failure")
        assert server.connections == 1

    @pytest.mark.parametrize(
        "script", [Peer.wait_until_gone, lambda peer: peer.drip(b"\x16\x03\x03\x3f\xff" + b"\x02" * 9999)]
    )
    def test_tls__handshake_never_ends__is_given_up_in_time(self, script, message):
        with FaultServer(script) as server:
            url = server.url.replace("http:", "https:")
            verdict, took_seconds = self.send(url, message, timeout_seconds=TIMEOUT_SECONDS)

        assert (verdict.outcome, verdict.error_code) == (Outcome.UNCONFIRMED, "read_timeout")
        assert took_seconds < TIMEOUT_SECONDS + GRACE_SECONDS

    @pytest.mark.parametrize("script", [_dripping_header, _dripping_body_without_length])
    def test_tls__dripping_answer__is_given_up_in_time(self, script, message, tmp_path):
        context, trusted = self_signed(tmp_path)
        with FaultServer(script, tls=context) as server, self.provider(server.url) as provider:
            provider.certificates = str(trusted)
            began = time.monotonic()
            verdict = provider.send(message, timeout_seconds=TIMEOUT_SECONDS)
            took_seconds = time.monotonic() - began

        assert (verdict.outcome, verdict.error_code) == (Outcome.UNCONFIRMED, "read_timeout")
        assert len(server.requests) == 1
        assert took_seconds < TIMEOUT_SECONDS + GRACE_SECONDS

    def test_tls__trusted__is_accepted(self, message, tmp_path):
        context, trusted = self_signed(tmp_path)
        with FaultServer(answering(self.acceptance), tls=context) as server, self.provider(server.url) as provider:
            provider.certificates = str(trusted)
            assert provider.send(message, timeout_seconds=PATIENT_SECONDS).outcome is Outcome.ACCEPTED

    def test_accepted__connection_kept__is_used_again(self, message):
        with FaultServer(answering(self.acceptance, keep=True)) as server, self.provider(server.url) as provider:
            verdicts = [provider.send(message, timeout_seconds=PATIENT_SECONDS) for _ in range(3)]

        assert [v.outcome for v in verdicts] == [Outcome.ACCEPTED] * 3
        assert all(v.provider_message_id for v in verdicts)
        assert (len(server.requests), server.connections) == (3, 1)

    def test_kept_connection__closed_by_the_peer__is_replaced(self, message):
        closed = threading.Event()

        def once(peer: Peer) -> None:
            peer.read_request()
            peer.send(self.acceptance)
            peer.close()
            closed.set()

        with FaultServer(once) as server, self.provider(server.url) as provider:
            first = provider.send(message, timeout_seconds=PATIENT_SECONDS)
            assert closed.wait(5)
            second = provider.send(message, timeout_seconds=PATIENT_SECONDS)

        assert (first.outcome, second.outcome) == (Outcome.ACCEPTED, Outcome.ACCEPTED)
        assert (len(server.requests), server.connections) == (2, 2)

    def test_kept_connection__lost_after_reading__is_not_sent_again(self, message):
        def fails_the_second(peer: Peer) -> None:
            peer.read_request()
            peer.send(self.acceptance)
            peer.read_request()

        with FaultServer(fails_the_second) as server, self.provider(server.url) as provider:
            provider.send(message, timeout_seconds=PATIENT_SECONDS)
            verdict = provider.send(message, timeout_seconds=PATIENT_SECONDS)

        assert (verdict.outcome, verdict.error_code) == (Outcome.UNCONFIRMED, "connection_lost")
        assert (len(server.requests), server.connections) == (2, 1)

    def test_many_threads__some_overdue__end_in_time_and_leave_nothing_behind(self, message):
        verdicts: list[Verdict] = []

        def every_third_hangs(peer: Peer) -> None:
            while peer.read_request():
                if len(server.requests) % 3 == 0:
                    peer.wait_until_gone()
                    return
                peer.send(self.acceptance)

        with FaultServer(every_third_hangs) as server, self.provider(server.url) as provider:

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

    def test_environment__names_a_proxy__is_not_followed(self, message, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
        monkeypatch.setenv("NO_PROXY", "")
        with FaultServer(answering(self.acceptance)) as server:
            verdict, _ = self.send(server.url, message)

        assert verdict.outcome is Outcome.ACCEPTED

    def assert_private(self, message: Message, text: str) -> None:
        for secret in (message.recipient, message.recipient.partition("@")[0].lstrip("+"), BODY, "private"):
            assert secret not in text
