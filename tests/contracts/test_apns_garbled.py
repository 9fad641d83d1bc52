"""Answers of HTTP/2 with bytes that were changed, lost or added on the way: always a verdict, never an exception."""

import random
from uuid import UUID

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.push.apns import ApnsProvider
from notifications.providers.push.apns_key import TeamKey, TeamTokens, parse_key
from notifications.providers.push.http2 import Http2Caller
from notifications.verdict import Outcome
from tests.support.fault_server import FaultServer
from tests.support.push_accounts import KEY_ID, TEAM_ID, TOPIC, apple_key

IDENTITY = UUID("0190f3c8-0000-7000-8000-0000000000aa")


def genuine():
    """All that a server says to the first request of a connection that it accepts."""
    server = H2Connection(H2Configuration(client_side=False))
    server.initiate_connection()
    client = H2Connection(H2Configuration(client_side=True))
    client.initiate_connection()
    asked = [(":method", "POST"), (":path", "/"), (":scheme", "https"), (":authority", "x")]
    client.send_headers(1, asked, end_stream=True)
    server.receive_data(client.data_to_send())
    server.send_headers(1, [(":status", "200"), ("apns-id", str(IDENTITY))], end_stream=True)
    return server.data_to_send()


def changed(data, chance):
    garbled = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at, how = chance.randrange(len(garbled)), chance.random()
        if how < 0.6:
            garbled[at] = chance.randrange(256)
        elif how < 0.8:
            del garbled[at]
        else:
            garbled.insert(at, chance.randrange(256))
    return bytes(garbled)


def verdict_on(data):
    def script(peer):
        peer.receive()
        peer.send(data)
        peer.finish()

    tokens = TeamTokens(TeamKey(KEY_ID, TEAM_ID, parse_key(apple_key())))
    with FaultServer(script) as server:
        provider = ApnsProvider("apns", tokens, TOPIC, Http2Caller(server.url))
        try:
            return provider.send(Message(IDENTITY, Channel.PUSH, "apns:00ff", "x"), timeout_seconds=5)
        finally:
            provider.close()


def test_answer__unchanged__is_accepted():
    assert verdict_on(genuine()).outcome is Outcome.ACCEPTED


@pytest.mark.parametrize("seed", range(3))
def test_answer__garbled__is_unconfirmed_unless_the_proof_is_whole(seed):
    chance = random.Random(seed)
    verdicts = [verdict_on(changed(genuine(), chance)) for _ in range(10)]

    assert {v.outcome for v in verdicts} <= {Outcome.UNCONFIRMED, Outcome.ACCEPTED}, verdicts
    assert all(UUID(v.provider_message_id) == IDENTITY for v in verdicts if v.outcome is Outcome.ACCEPTED)
    assert any(v.outcome is Outcome.UNCONFIRMED for v in verdicts)
