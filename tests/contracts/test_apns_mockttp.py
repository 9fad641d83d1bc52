"""The APNs adapter against an HTTP/2 server nobody here wrote (mockttp, on Node), with TLS, from many threads."""

import json
import os
import subprocess
import threading
from contextlib import contextmanager
from uuid import UUID, uuid4

import pytest

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.push.apns import ApnsProvider
from notifications.providers.push.apns_key import TeamKey, TeamTokens, parse_key
from notifications.providers.push.http2 import Http2Caller
from notifications.verdict import Outcome
from tests.support.certificate import write_certificate
from tests.support.node import peers_home
from tests.support.push_accounts import KEY_ID, TEAM_ID, TOPIC, apple_key

SERVER = """
const net = require("net");
const listen = net.Server.prototype.listen;  // it would listen on every address
net.Server.prototype.listen = function (port, ...more) { return listen.call(this, port, "127.0.0.1", ...more); };
const { getLocal } = require("mockttp");
const read = (name) => require("fs").readFileSync(process.env[name], "utf8");
const server = getLocal({ https: { key: read("KEY"), cert: read("CERTIFICATE") }, http2: true });
const seen = [];
const device = (name) => server.forPost("/3/device/" + name).always();
const echo = (request) => {
  seen.push([request.httpVersion, request.headers["apns-id"]]);
  return { status: 200, headers: { "apns-id": request.headers["apns-id"] } };
};
(async () => {
  const startPort = 20000 + (process.pid % 10000);  // not where others like to be
  await server.start({ startPort, endPort: startPort + 1000 });
  await device("aa").thenCallback(echo);
  await device("b1").thenReply(410, '{"reason": "Unregistered", "timestamp": 1454402113123}');
  await device("b2").thenReply(429, '{"reason": "TooManyRequests"}', { "retry-after": "7" });
  await device("b3").thenReply(200, "");
  await device("b4").thenReply(503, "");
  await device("c1").thenCloseConnection();
  await device("c2").thenResetConnection();
  await device("c3").thenTimeout();
  console.log(server.port);
  process.stdin.on("data", () => console.log(JSON.stringify(seen)));
  process.stdin.on("end", () => process.exit(0));
})();
"""


class Apple:
    """A running server. The certificate is its authority's: it makes one for each name that it is called by."""

    def __init__(self, process, certificate):
        self._process = process
        self.certificate = str(certificate)
        self.url = f"https://localhost:{int(process.stdout.readline())}"

    def seen(self):
        """[HTTP version, apns-id] of each request to the device that is accepted."""
        self._process.stdin.write("?\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@pytest.fixture(scope="module")
def apple(tmp_path_factory):
    certificate, key = write_certificate(tmp_path_factory.mktemp("apple"))
    home = peers_home()
    variables = {"PATH": os.environ["PATH"], "HOME": str(home), "KEY": str(key), "CERTIFICATE": str(certificate)}
    with subprocess.Popen(
        ["node", "-e", SERVER], cwd=home, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Apple(process, certificate)
        finally:
            process.stdin.close()
            process.wait(10)


@contextmanager
def provider_at(apple):
    tokens = TeamTokens(TeamKey(KEY_ID, TEAM_ID, parse_key(apple_key())))
    provider = ApnsProvider("apns", tokens, TOPIC, Http2Caller(apple.url, apple.certificate))
    try:
        yield provider
    finally:
        provider.close()


def a_message(device="aa"):
    return Message(uuid4(), Channel.PUSH, f"apns:{device}", "private", data={"order": "12"}, subject="private")


@pytest.mark.parametrize(
    ("device", "outcome", "code"),
    [
        ("b1", Outcome.REJECTED, "unregistered"),
        ("b2", Outcome.TEMPORARY, "throttled"),
        ("b3", Outcome.UNCONFIRMED, "no_proof"),
        ("b4", Outcome.UNCONFIRMED, "http_503"),
        ("c1", Outcome.UNCONFIRMED, "connection_lost"),
        ("c2", Outcome.UNCONFIRMED, "connection_lost"),
        ("c3", Outcome.UNCONFIRMED, "read_timeout"),
    ],
)
def test_answer__of_a_foreign_server__has_its_verdict(device, outcome, code, apple):
    with provider_at(apple) as provider:
        verdict = provider.send(a_message(device), timeout_seconds=1.0 if device == "c3" else 10.0)

    assert (verdict.outcome, verdict.error_code) == (outcome, code)
    assert verdict.retry_after_seconds == (7 if device == "b2" else None)


def test_many_threads__at_once__lose_no_message_and_repeat_none(apple):
    messages = [a_message() for _ in range(96)]
    verdicts = {}

    with provider_at(apple) as provider:

        def sends(share):
            for message in share:
                verdicts[message.id] = provider.send(message, timeout_seconds=20.0)

        threads = [threading.Thread(target=sends, args=(messages[n::8],)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert {v.outcome for v in verdicts.values()} == {Outcome.ACCEPTED}
    assert {UUID(v.provider_message_id) for v in verdicts.values()} == set(verdicts)
    seen = [UUID(identity) for _, identity in apple.seen()]
    assert sorted(seen) == sorted(m.id for m in messages)
    assert {version for version, _ in apple.seen()} == {"2.0"}
