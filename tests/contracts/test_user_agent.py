"""Whoever is called is told who calls."""

import tomllib
from uuid import uuid4

from notifications.channel import Channel
from notifications.providers.base import Capabilities, Message
from notifications.providers.push.http2 import Http2Caller
from notifications.providers.sandbox import SandboxProvider
from notifyq.runtime.identity import USER_AGENT, VERSION
from tests.contracts.conformance import answering, http_answer
from tests.support.fault_server import FaultServer
from tests.support.h2_peer import H2Peer, speaking
from tests.support.source import ROOT
from webhooks.dispatch.call import EndpointCaller

LINE = f"\r\nuser-agent: {USER_AGENT}\r\n".encode()


def test_version__is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert (project["version"], USER_AGENT) == (VERSION, f"{project['name']}/{VERSION}")


def test_provider__is_told_who_calls():
    message = Message(id=uuid4(), channel=Channel.SMS, recipient="+41790000000", body="b")
    with FaultServer(answering(http_answer(400))) as server:
        provider = SandboxProvider("sandbox", Capabilities(), server.url)
        provider.send(message, timeout_seconds=5)
        provider.close()

    assert LINE in server.requests[0].replace(b"User-Agent", b"user-agent")


def test_http2_provider__is_told_who_calls():
    seen = []

    def script(peer: H2Peer) -> None:
        while request := peer.read_request():
            seen.append(request.headers["user-agent"])
            peer.answer(request, 400)

    with FaultServer(speaking(script)) as server:
        caller = Http2Caller(server.url)
        caller.post("/", {}, b"{}", timeout_seconds=5)
        caller.close()

    assert seen == [USER_AGENT]


def test_webhook_endpoint__is_told_who_calls():
    with FaultServer(answering(http_answer(200))) as server:
        EndpointCaller(timeout_seconds=5, allow_private=True).call(server.url, "{}", {})

    assert LINE in server.requests[0].replace(b"User-Agent", b"user-agent")
