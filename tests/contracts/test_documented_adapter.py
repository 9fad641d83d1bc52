"""The adapter on the page "adding a provider", loaded as the page says: its answers, its look-ups, its test."""

import json
import sys
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from notifications.channel import Channel
from notifications.providers import chains
from notifications.providers.base import Message
from notifications.verdict import Found, Outcome
from notifyq.env import Config, Environment
from tests.contracts.conformance import FAULTS, HttpAdapterConformance, answering, http_answer
from tests.support.fault_server import FaultServer
from tests.support.pages import blocks

PAGE = "adding-a-provider"
ADAPTER, TEST = blocks(PAGE, "python")
MESSAGE = Message(id=uuid4(), channel=Channel.SMS, recipient="+41790000000", body="b")


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The page's module, on the Python path for the time of the test."""
    (tmp_path / "acme_pigeon.py").write_text(ADAPTER, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "acme_pigeon"
    sys.modules.pop("acme_pigeon", None)


@pytest.fixture
def at(module, monkeypatch):
    """The adapter as the page's settings make it, pointed at a peer."""
    monkeypatch.setattr(Environment, "read", set())  # its settings are none of this project's
    variables = dict(line.removeprefix("export ").split("=", 1) for line in exports())
    built = []

    def pointed(url):
        settings = Environment(variables | {"NOTIFYQ_PIGEON_URL": url})
        built.append(chains.build(Config.load(settings).provider_chains, settings))
        return built[-1][Channel.SMS].first

    yield pointed
    for chain in built:
        chains.close(chain)


def exports():
    (settings,) = blocks(PAGE, "sh")
    return [line for line in settings.splitlines() if line.startswith("export ")]


def answered(status, document):
    return answering(http_answer(status, json.dumps(document).encode()))


@pytest.mark.parametrize(
    ("status", "document", "outcome", "code"),
    [
        (201, {"id": "p-1"}, Outcome.ACCEPTED, ""),
        (200, {"id": "p-1"}, Outcome.UNCONFIRMED, "no_proof"),
        (422, {"error": "unknown_number"}, Outcome.REJECTED, "unknown_number"),
        (422, {"error": "no_credit"}, Outcome.PROVIDER_FAULT, "no_credit"),
        (422, {"error": ["no_credit"]}, Outcome.UNCONFIRMED, "no_proof"),
        (503, {"error": "no_credit"}, Outcome.UNCONFIRMED, "http_503"),
        (429, {}, Outcome.TEMPORARY, "throttled"),
    ],
)
def test_answer__of_the_vendor__has_its_verdict(status, document, outcome, code, at):
    with FaultServer(answered(status, document)) as server:
        verdict = at(server.url).send(MESSAGE, timeout_seconds=10)

    assert (verdict.outcome, verdict.error_code) == (outcome, code)
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.code != "read_timeout"], ids=lambda f: f.name)
def test_fault__of_the_connection__has_the_verdict_of_every_adapter(fault, at):
    with FaultServer(fault.script) as server:
        verdict = at(server.url).send(MESSAGE, timeout_seconds=10)

    assert (verdict.outcome, fault.code or verdict.error_code) == (fault.outcome, verdict.error_code)


@pytest.mark.parametrize(
    ("status", "document", "age_seconds", "found"),
    [
        (200, {"messages": [{"id": "p-1"}]}, 0, Found.ACCEPTED),
        (200, {"messages": []}, 120, Found.ABSENT),
        (200, {"messages": []}, 30, Found.UNKNOWN),
        (200, {"messages": []}, 8 * 86_400, Found.UNKNOWN),
        (200, {"messages": [7]}, 120, Found.UNKNOWN),
        (200, {}, 120, Found.UNKNOWN),
        (404, {"messages": []}, 120, Found.UNKNOWN),
        (500, {"messages": []}, 120, Found.UNKNOWN),
    ],
)
def test_look_up__answer_of_the_vendor__has_its_finding(status, document, age_seconds, found, at):
    since = datetime.now(UTC) - timedelta(seconds=age_seconds)
    with FaultServer(answered(status, document)) as server:
        assert at(server.url).look_up(MESSAGE, since=since, timeout_seconds=10).found is found


def test_page__its_test__is_the_suite_of_every_adapter(module):
    names = {"__name__": "test_pigeon"}
    exec(compile(TEST, "test_pigeon.py", "exec"), names)

    assert issubclass(names["TestPigeonProvider"], HttpAdapterConformance)
    assert names["TestPigeonProvider"]().build("http://127.0.0.1:9").kind == "pigeon"
