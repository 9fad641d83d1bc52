"""Which addresses the dispatcher connects to, and by what names."""

import pytest

from tests.support.certificate import self_signed
from tests.support.fault_server import FaultServer, Peer
from tests.support.receiver import Receiver
from tests.support.webhook_pass import one_pass
from tests.support.webhook_rows import an_endpoint, an_event, moved, reloaded
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db(transaction=True)


def close_early(peer: Peer):
    peer.read_request()
    peer.close()


@pytest.mark.parametrize("url", ["http://{}/", "https://{}/"])
def test_address__private_and_not_allowed__is_refused_before_a_connection(url):
    with FaultServer(close_early) as server:
        event = an_event(an_endpoint(url.format(f"127.0.0.1:{server.port}")))
        one_pass(allow_private=False)

        assert server.connections == 0
    assert reloaded(event).last_error_code == "url_refused"


def test_name__that_resolves_to_a_private_address__is_refused_before_a_connection(monkeypatch):
    monkeypatch.setattr("notifications.providers.session.resolve", lambda *_: ["127.0.0.1", "::ffff:10.0.0.1"])
    with FaultServer(close_early) as server:
        event = an_event(an_endpoint(f"https://hooks.example.com:{server.port}/"))
        one_pass(allow_private=False)

        assert server.connections == 0
    assert reloaded(event).last_error_code == "address_refused"


def test_name__rebound_between_two_attempts__is_judged_each_time(monkeypatch):
    """The first answer is public (and unreachable here), the second is not."""
    answers = iter([["192.0.0.8"], ["127.0.0.1"]])
    judged: list[str] = []
    monkeypatch.setattr("notifications.providers.session.resolve", lambda *_: next(answers))

    def is_public(address):
        judged.append(address)
        return False

    monkeypatch.setattr("webhooks.egress.is_public", is_public)
    event = an_event(an_endpoint("https://hooks.example.com:8443/"))
    one_pass(allow_private=False)
    moved(event, due_at=-1)
    one_pass(allow_private=False)

    assert judged == ["192.0.0.8", "127.0.0.1"]
    assert [a.error_code for a in event.attempts.all()] == ["address_refused"] * 2


def test_name__of_a_tls_endpoint__is_still_verified_though_the_address_is_connected_to(monkeypatch, tmp_path):
    """The certificate is one for 127.0.0.1: right for that name, wrong for any other at the same address."""
    monkeypatch.setattr("notifications.providers.session.resolve", lambda *_: ["127.0.0.1"])
    monkeypatch.setattr("webhooks.egress.is_public", lambda _: True)
    context, trusted = self_signed(tmp_path)
    seen = []
    context.sni_callback = lambda _socket, name, _context: seen.append(name)
    with FaultServer(answer_204, tls=context) as server:
        wrong = an_event(an_endpoint(f"https://hooks.example.com:{server.port}/"))
        right = an_event(an_endpoint(f"https://127.0.0.1:{server.port}/"))
        one_pass(certificates=str(trusted))

    assert seen.count("hooks.example.com") == 1
    assert reloaded(wrong).last_error_code == "certificate_untrusted"
    assert reloaded(right).status == EventStatus.DELIVERED


def answer_204(peer: Peer):
    peer.read_request()
    peer.send(b"HTTP/1.1 204 No Content\r\n\r\n")
    peer.close()


def test_proxy__in_the_environment__is_not_used(monkeypatch):
    with Receiver() as receiver, FaultServer(close_early) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        an_event(an_endpoint(receiver.url))
        one_pass()

        assert len(receiver.requests) == 1
        assert proxy.connections == 0
