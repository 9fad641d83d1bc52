"""The FCM adapter as its settings build it, with a token endpoint beside it: all of a call, within its time."""

import json
from urllib.parse import parse_qs
from uuid import UUID

import pytest

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.registry import build
from notifications.verdict import Outcome
from notifyq.env import Environment

pytest.register_assert_rewrite("tests.contracts.conformance")

from tests.contracts.conformance import answering, http_answer  # noqa: E402
from tests.support.fault_server import FaultServer, closed_port  # noqa: E402
from tests.support.push_accounts import service_account  # noqa: E402

GRANTED = json.dumps({"access_token": "access-1", "expires_in": 3600, "token_type": "Bearer"}).encode()


def sends_through(token_url, fcm_url, timeout_seconds=5.0):
    variables = {"NOTIFYQ_FCM_CREDENTIALS": json.dumps(service_account(token_url)), "NOTIFYQ_FCM_URL": fcm_url}
    provider = build("fcm", Environment(variables))
    try:
        return [
            provider.send(Message(UUID(int=7), Channel.PUSH, "fcm:t", "x"), timeout_seconds=timeout_seconds)
            for _ in range(2)
        ]
    finally:
        provider.close()


def test_provider__from_its_settings__fetches_one_token_over_http_and_sends_with_it():
    accepted = answering(http_answer(200, b'{"name": "projects/shop-1/messages/1"}'), keep=True)
    with FaultServer(answering(http_answer(200, GRANTED))) as google, FaultServer(accepted) as fcm:
        verdicts = sends_through(f"{google.url}/token", fcm.url)

    assert [v.outcome for v in verdicts] == [Outcome.ACCEPTED] * 2
    [request] = google.requests
    form = parse_qs(request.partition(b"\r\n\r\n")[2].decode())
    assert list(form) == ["grant_type", "assertion"]
    assert all(b"Authorization: Bearer access-1" in r for r in fcm.requests)


def test_provider__token_endpoint_is_silent__is_temporary_within_its_time():
    silent = FaultServer(lambda peer: peer.wait_until_gone())
    with silent as google:
        verdicts = sends_through(google.url, f"http://127.0.0.1:{closed_port()}", timeout_seconds=0.4)

    assert [(v.outcome, v.error_code) for v in verdicts] == [(Outcome.TEMPORARY, "token_read_timeout")] * 2
