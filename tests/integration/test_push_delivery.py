"""From the queue through a worker to both vendors of push, each a server on loopback."""

import dataclasses
import json
import threading

import pytest

from notifications.channel import Channel, OnUnconfirmed
from notifications.delivery.worker import Worker
from notifications.models import Notification
from notifications.providers import chains
from notifications.retry import Backoff
from notifications.status import Status
from notifyq.env import Environment
from tests.integration.test_claim_bounds import OPTIONS
from tests.support.fault_server import FaultServer, Peer
from tests.support.h2_peer import H2Peer, speaking
from tests.support.push_accounts import apns_variables, service_account
from tests.support.rows import add, attempts_of

pytestmark = pytest.mark.django_db(transaction=True)

FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
GONE = {"error": {"details": [{"@type": FCM_ERROR, "errorCode": "UNREGISTERED"}]}}


def google(peer: Peer) -> None:
    """Grants a token, and knows no device."""
    while request := peer.read_request():
        granted = request.startswith(b"POST /token ")
        body = json.dumps({"access_token": "a", "expires_in": 3600} if granted else GONE).encode()
        head = f"HTTP/1.1 {200 if granted else 404} x\r\nContent-Length: {len(body)}\r\n\r\n"
        peer.send(head.encode() + body)


class Apple:
    """Loses the first answer, and gives the others."""

    def __init__(self):
        self.requests = []

    def __call__(self, peer: H2Peer) -> None:
        while request := peer.read_request():
            self.requests.append(request)
            if len(self.requests) == 1:
                return
            peer.answer(request, 200, headers={"apns-id": request.headers["apns-id"]})


def drain(built):
    worker = Worker("worker", dataclasses.replace(OPTIONS, drain=True, backoff=Backoff(0.01, 0.01)), built)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()


def test_worker__two_platforms__each_goes_to_its_vendor_and_a_lost_answer_is_repeated_under_one_key():
    [android] = add(channel=Channel.PUSH, recipient="fcm:gone")
    [iphone] = add(channel=Channel.PUSH, recipient="apns:00ff", on_unconfirmed=OnUnconfirmed.HOLD)
    apple = Apple()
    with FaultServer(google) as fcm, FaultServer(speaking(apple)) as apns:
        variables = apns_variables(
            NOTIFYQ_APNS_URL=apns.url,
            NOTIFYQ_FCM_URL=fcm.url,
            NOTIFYQ_FCM_CREDENTIALS=json.dumps(service_account(f"{fcm.url}/token")),
        )
        built = chains.build({Channel.PUSH: ("fcm", "apns")}, Environment(variables))
        while Notification.objects.filter(finished_at=None).exists():
            drain(built)
        chains.close(built)

    gone, arrived = Notification.objects.get(pk=android), Notification.objects.get(pk=iphone)
    assert (gone.status, gone.last_error_code) == (Status.FAILED, "unregistered")
    assert (arrived.status, arrived.provider) == (Status.SENT, "apns")
    assert attempts_of(iphone) == [(1, "UNCONFIRMED", "connection_lost"), (2, "ACCEPTED", "")]
    assert {r.headers["apns-id"] for r in apple.requests} == {str(iphone)}
    assert {r.headers["apns-collapse-id"] for r in apple.requests} == {str(iphone)}
