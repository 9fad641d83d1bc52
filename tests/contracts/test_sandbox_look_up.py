"""The sandbox adapter asking: what each answer means, from the real server and from one that fails in every way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers import registry
from notifications.providers.base import Capabilities, Message
from notifications.providers.sandbox import SandboxProvider
from notifications.verdict import Finding, Found
from notifyq.env import Environment
from notifyq.sandbox.server import SandboxServer
from notifyq.sandbox.store import Store
from notifyq.sandbox.vendor import Vendor
from notifyq.sandbox.weather import Weather

pytest.register_assert_rewrite("tests.contracts.conformance")

from tests.contracts.conformance import FAULTS, Fault, answering, http_answer  # noqa: E402
from tests.support.fault_server import FaultServer, closed_port  # noqa: E402


@pytest.fixture
def vendor(tmp_path: Path) -> Iterator[tuple[SandboxServer, SandboxProvider]]:
    """The real server, in a thread, and the adapter for it."""
    store = Store(tmp_path / "sandbox.sqlite3")
    server = SandboxServer("127.0.0.1", 0)
    server.vendor = Vendor(store)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    provider = SandboxProvider("sandbox", Capabilities(), server.url)
    try:
        yield server, provider
    finally:
        provider.close()
        server.stop()
        thread.join()
        store.close()


def _message(recipient: str = "ada@example.org") -> Message:
    return Message(uuid4(), Channel.EMAIL, recipient, "body")


def _ask(provider: SandboxProvider, message: Message, timeout_seconds: float = 5.0) -> Finding:
    return provider.look_up(message, since=datetime.now(UTC), timeout_seconds=timeout_seconds)


@pytest.mark.parametrize(
    ("recipient", "expected"),
    [
        ("ada", Found.ACCEPTED),
        ("accept-then-500", Found.ACCEPTED),
        ("accept-then-timeout", Found.ACCEPTED),
        ("reject", Found.REJECTED),
        ("temporary", Found.ABSENT),
        ("hang", Found.ABSENT),
        ("poison", Found.ABSENT),
    ],
)
def test_look_up__after_a_send__is_the_truth(
    vendor: tuple[SandboxServer, SandboxProvider], recipient: str, expected: Found
) -> None:
    server, provider = vendor
    message = _message(f"{recipient}@example.org")
    assert _ask(provider, message).found is Found.ABSENT
    provider.send(message, timeout_seconds=0.3)
    finding = _ask(provider, message)
    assert finding.found is expected
    stored = [m.id for m in server.vendor.store.messages()]
    assert [finding.provider_message_id] == (stored or [""])


def test_look_up__answer_still_held_back__is_accepted(vendor: tuple[SandboxServer, SandboxProvider]) -> None:
    server, provider = vendor
    server.vendor.set_weather(Weather(latencyMs=60_000))
    message = _message()
    provider.send(message, timeout_seconds=0.3)
    assert _ask(provider, message).found is Found.ACCEPTED


@pytest.mark.parametrize(
    ("weather", "code"), [(Weather(lookup=False), "lookup_not_supported"), (Weather(down=True), "down")]
)
def test_look_up__not_answered__proves_nothing(
    vendor: tuple[SandboxServer, SandboxProvider], weather: Weather, code: str
) -> None:
    server, provider = vendor
    message = _message()
    provider.send(message, timeout_seconds=5)
    server.vendor.set_weather(weather)
    assert (_ask(provider, message).found, _ask(provider, message).error_code) == (Found.UNKNOWN, code)


@pytest.mark.parametrize(
    ("status", "body", "found"),
    [
        (200, b'{"status": "delivered", "messageId": "m-1"}', Found.ACCEPTED),
        (200, b'{"status": "delivered"}', Found.UNKNOWN),
        (200, b'{"status": "delivered", "messageId": 7}', Found.UNKNOWN),
        (200, b'{"status": ["delivered"], "messageId": "m-1"}', Found.UNKNOWN),
        (200, b'{"status": "lost", "messageId": "m-1"}', Found.UNKNOWN),
        (200, b'{"status": "failed"}', Found.REJECTED),
        (500, b'{"status": "failed"}', Found.UNKNOWN),
        (404, b'{"code": "unknown_key"}', Found.ABSENT),
        (404, b"<h1>nothing here</h1>", Found.UNKNOWN),
        (404, b'{"code": "not_found"}', Found.UNKNOWN),
        (204, b"", Found.UNKNOWN),
        (401, b"{}", Found.UNKNOWN),
        (501, b'{"code": ["x"]}', Found.UNKNOWN),
    ],
)
def test_look_up__of_whatever_answer__believes_only_the_vendors_own_words(
    status: int, body: bytes, found: Found
) -> None:
    message = _message()
    with FaultServer(answering(http_answer(status, body))) as server:
        assert _ask(SandboxProvider("sandbox", Capabilities(), server.url), message).found is found
    assert server.requests[0].startswith(f"GET /messages?key={message.id} HTTP/1.1".encode())


def test_look_up__throttled__says_how_long_to_wait() -> None:
    with FaultServer(answering(http_answer(429, b"{}", Retry_After="7"))) as server:
        finding = _ask(SandboxProvider("sandbox", Capabilities(), server.url), _message())
    assert (finding.found, finding.error_code, finding.retry_after_seconds) == (Found.UNKNOWN, "http_429", 7.0)


@pytest.mark.parametrize(
    "fault", [f for f in FAULTS if "dripping" not in f.name or f.name == "dripping body"], ids=lambda f: f.name
)
def test_look_up__trouble_on_the_way__proves_nothing(fault: Fault) -> None:
    with FaultServer(fault.script) as server:
        finding = _ask(SandboxProvider("sandbox", Capabilities(), server.url), _message(), 0.4)
    assert finding.found is Found.UNKNOWN
    assert finding.error_code


def test_look_up__nobody_there__proves_nothing() -> None:
    finding = _ask(SandboxProvider("sandbox", Capabilities(), f"http://127.0.0.1:{closed_port()}"), _message())
    assert finding.found is Found.UNKNOWN


def test_settings__settling_time__is_the_accounts_own() -> None:
    variables = {"NOTIFYQ_SANDBOX_A_URL": "http://127.0.0.1:9", "NOTIFYQ_SANDBOX_A_LOOKUP_SETTLE_SECONDS": "0.25"}
    lookup = registry.build("sandbox:a", Environment(variables)).capabilities.lookup
    assert lookup is not None
    assert lookup.settle_seconds == 0.25
    usual = registry.build("sandbox", Environment({})).capabilities.lookup
    assert usual is not None
    assert usual.settle_seconds == 1.0
    with pytest.raises(ConfigurationError, match="NOTIFYQ_SANDBOX_LOOKUP_SETTLE_SECONDS"):
        registry.build("sandbox", Environment({"NOTIFYQ_SANDBOX_LOOKUP_SETTLE_SECONDS": "-1"}))
