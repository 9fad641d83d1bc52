"""`POST /receipts/{provider}`: who is let in, what makes each vendor do the right thing, what is kept."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError
from django.test import Client as HttpClient

from notifications import queue, receipts
from notifications.channel import Channel
from notifications.models import Notification, Receipt
from notifications.receipts import Call
from notifications.receipts.base import Unavailable
from notifications.receipts.ses import SesReceiver
from notifications.receipts.twilio import signature
from notifications.status import Status
from tests.support import callbacks
from tests.support.api import NOTIFICATIONS
from tests.support.callbacks import NEW, TOPIC
from tests.support.factories import NotificationFactory, ago

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def receivers(settings: Any) -> Any:
    made = dict(receipts.build(("twilio:eu",), callbacks.environment(NOTIFYQ_TWILIO_EU_RECEIPT_SECRETS=NEW)))
    settings.RECEIVERS = made | {"ses": SesReceiver("ses", [TOPIC], lambda url: callbacks.certificate())}
    return settings.RECEIVERS


def post(provider: str, made: Call | Any, query: str = "", **headers: str) -> Any:
    """As the vendor would: over plain HTTP, with its own headers and no key."""
    call = made if isinstance(made, Call) else callbacks.call(made)
    kind = "application/json" if call.body[:1] in (b"{", b"[") else "application/x-www-form-urlencoded"
    return HttpClient(raise_request_exception=False).generic(
        "POST", f"/receipts/{provider}{query}", call.body, kind, headers={**call.headers, **headers}
    )


def delivered(row: Notification, status: str = "DELIVERED", **more: Any) -> Call:
    return callbacks.sandbox([callbacks.sandbox_event("e-1", status, key=row.pk, **more)])


def test_post__a_genuine_callback__is_stored_shown_and_answered_with_nothing(caller: Any) -> None:
    row = NotificationFactory(client=caller.client, status=Status.SENT)
    answer = post("sandbox", delivered(row, code="250", text="ok", at="2030-01-31T08:00:00Z", messageId="m-1"))
    assert (answer.status_code, answer.content, answer["Content-Type"]) == (200, b"", "text/plain")
    shown = caller.get(f"{NOTIFICATIONS}/{row.pk}").json()
    assert (shown["status"], shown["deliveryStatus"]) == ("SENT", "DELIVERED")
    [receipt] = shown["receipts"]
    assert receipt.pop("receivedAt")
    assert receipt == {
        "provider": "sandbox",
        "status": "DELIVERED",
        "vendorStatus": "DELIVERED",
        "code": "250",
        "message": "ok",
        "providerMessageId": "m-1",
        "occurredAt": "2030-01-31T08:00:00.000000Z",
    }
    [listed] = caller.get().json()["results"]
    assert listed["deliveryStatus"] == "DELIVERED"


@pytest.mark.parametrize("base", ["", "https://notify.example.com"])
def test_post__of_twilio__is_checked_against_the_public_address(base: str, settings: Any) -> None:
    settings.NOTIFYQ = replace(django_settings.NOTIFYQ, receipts_url=base)
    row = NotificationFactory(channel=Channel.SMS, unconfirmed_provider="twilio:eu", unconfirmed_at=ago(5))
    pairs = [("MessageSid", "SM1"), ("MessageStatus", "sent")]
    url = f"{base or 'http://testserver'}/receipts/twilio:eu?key={row.pk}"
    made = callbacks.call(urlencode(pairs).encode(), headers={"X-Twilio-Signature": signature(NEW, url, pairs)})
    assert post("twilio:eu", made, f"?key={row.pk}").status_code == 200
    found = Notification.objects.get(pk=row.pk)
    assert (found.status, found.provider, found.provider_message_id) == (Status.SENT, "twilio:eu", "SM1")


@pytest.mark.parametrize("made", [callbacks.sandbox([], secret="another-secret"), callbacks.call([{"id": "e"}])])
def test_post__without_the_signature__is_403_stored_nowhere_and_counted(made: Call, caplog: Any) -> None:
    with caplog.at_level(logging.WARNING, "notifications"):
        answer = post("sandbox", made)
    assert (answer.status_code, answer["Content-Type"]) == (403, "application/problem+json")
    assert not Receipt.objects.exists()
    assert [r.getMessage() for r in caplog.records] == ["receipt_refused"]
    assert HttpClient().get("/metrics").content.count(b'notifyq_receipts_refused_total{provider="sandbox"') >= 1


@pytest.mark.parametrize("provider", ["smtp", "sandbox:b", "nobody", "%00", "x" * 300])
def test_post__for_a_provider_without_secrets__is_404(provider: str) -> None:
    assert post(provider, callbacks.sandbox([])).status_code == 404


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_receipts__any_other_method__is_405(method: str) -> None:
    assert HttpClient().generic(method, "/receipts/sandbox").status_code == 405


def test_post__a_body_that_is_too_long__is_413() -> None:
    made = callbacks.sandbox([])
    assert post("sandbox", replace(made, body=b" " * ((4 << 20) + 1))).status_code == 413


def test_post__genuine_but_unreadable__is_400_and_406_where_that_stops_the_vendor() -> None:
    assert post("sandbox", callbacks.sandbox({"no": "list"})).status_code == 400
    assert post("mailgun", callbacks.call(callbacks.mailgun(None))).status_code == 406


@pytest.mark.parametrize("body", [b"{", b"[1]", b""])
@pytest.mark.parametrize("provider", ["mailgun", "ses", "twilio", "sendgrid", "vonage", "bulksms", "resend", "sandbox"])
def test_post__unsigned_and_unreadable__is_403_whatever_it_is(provider: str, body: bytes) -> None:
    assert post(provider, callbacks.call(body)).status_code == 403


def test_post__of_sendgrid__one_bad_item_loses_none_of_the_others(caplog: Any) -> None:
    row = NotificationFactory(status=Status.SENT, provider="sendgrid")
    good = {"event": "bounce", "sg_event_id": "e", "notifyq_id": str(row.pk)}
    with caplog.at_level(logging.WARNING, "notifications"):
        assert post("sendgrid", callbacks.sendgrid([good, None])).status_code == 200
    assert Notification.objects.get(pk=row.pk).delivery_status == "BOUNCED"
    assert [(r.getMessage(), vars(r)["count"]) for r in caplog.records] == [("receipts_skipped", 1)]


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "nonsense"])
def test_post__whatever_the_vendor_accepts__is_taken(accept: str) -> None:
    row = NotificationFactory(status=Status.SENT)
    assert post("sandbox", delivered(row), Accept=accept).status_code == 200


def test_post__the_database_is_away__is_503_so_that_the_vendor_repeats_it(monkeypatch: Any) -> None:
    def away(*_: Any) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(queue, "receive", away)
    answer = post("sandbox", delivered(NotificationFactory(status=Status.SENT)))
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")


@pytest.mark.parametrize("provider", ["twilio:eu", "bulksms"])
def test_post__replayed_where_the_signature_holds_no_time__changes_nothing(provider: str) -> None:
    row = NotificationFactory(channel=Channel.SMS, status=Status.SENT, provider=provider, provider_message_id="m-1")
    if provider == "bulksms":
        made, query = callbacks.call([{"id": "m-1", "status": {"type": "DELIVERED"}}]), f"?secret={NEW}"
    else:
        query, pairs = f"?key={row.pk}", [("MessageSid", "m-1"), ("MessageStatus", "delivered")]
        signed = signature(NEW, f"http://testserver/receipts/{provider}{query}", pairs)
        made = callbacks.call(urlencode(pairs).encode(), headers={"X-Twilio-Signature": signed})
    states = []
    for _ in range(3):
        assert post(provider, made, query).status_code == 200
        states.append((Notification.objects.filter(pk=row.pk).values().get(), list(Receipt.objects.values())))
    assert states[0][0]["delivery_status"] == "DELIVERED"
    assert states == states[:1] * 3


def test_post__of_mailgun__a_captured_token_with_another_body__is_403() -> None:
    rows = [NotificationFactory(status=Status.SENT, provider="mailgun") for _ in range(2)]
    bodies = [
        callbacks.mailgun({"event": event, "id": event, "user-variables": {"notifyq_id": str(row.pk)}})
        for event, row in zip(("delivered", "complained"), rows, strict=True)
    ]
    assert post("mailgun", bodies[0]).status_code == 200
    assert post("mailgun", bodies[0]).status_code == 200  # our answer was lost: it repeats the same
    assert post("mailgun", bodies[1]).status_code == 403
    assert [Notification.objects.get(pk=row.pk).delivery_status for row in rows] == ["DELIVERED", ""]


def test_post__of_sns__a_subscription__is_confirmed_and_503_where_that_fails(receivers: Any) -> None:
    asked: list[str] = []

    def fetch(url: str) -> bytes:
        asked.append(url)
        if "Token=bad" in url:
            raise Unavailable("status 500")
        return callbacks.certificate()

    receivers["ses"] = SesReceiver("ses", [TOPIC], fetch)
    kinds = {"Type": "SubscriptionConfirmation", "SubscribeURL": "https://sns.eu-west-1.amazonaws.com/?x"}
    answers = [post("ses", callbacks.sns("hello", Token=token, **kinds)) for token in ("good", "bad")]
    assert [a.status_code for a in answers] == [200, 503]
    assert ["Token=good" in asked[1], "Token=bad" in asked[2]] == [True, True]


def test_post__thousands_of_events__are_taken_in_one_call() -> None:
    row = NotificationFactory(status=Status.SENT, provider="sendgrid")
    events = [{"event": "processed", "sg_event_id": f"e{n}", "notifyq_id": str(row.pk)} for n in range(2000)]
    assert post("sendgrid", callbacks.sendgrid(events)).status_code == 200
    assert row.receipts.count() == 2000


def test_post__with_addresses_in_its_texts__leaves_none_in_the_log_or_the_table(caplog: Any) -> None:
    row = NotificationFactory(status=Status.SENT)
    with caplog.at_level(logging.DEBUG):
        post("sandbox", delivered(row, "BOUNCED", text="<ada@example.com> is unknown", code="5.1.1"))
        post("sandbox", callbacks.sandbox([{"id": "ada@example.com"}], secret="another-secret"))
    assert "ada@" not in caplog.text + json.dumps([str(vars(r)) for r in caplog.records])
    assert Receipt.objects.get().text == "<…> is unknown"


def test_console__a_dead_letter_without_doubt_but_with_a_report__warns_of_a_second_copy(admin_client: Any) -> None:
    row = NotificationFactory(status=Status.DEAD_LETTERED)
    post("sandbox", delivered(row))
    text = admin_client.get(f"/admin/notifications/notification/{row.pk}/change/").content.decode()
    assert "its provider reports DELIVERED: Retry may send a second copy" in text


def test_console__a_dead_letter_with_proof__says_that_resolve_may_be_right(admin_client: Any) -> None:
    row = NotificationFactory(status=Status.DEAD_LETTERED, unconfirmed_provider="sandbox", unconfirmed_at=ago(5))
    page = f"/admin/notifications/notification/{row.pk}/change/"
    assert "Mark as sent may be right" not in admin_client.get(page).content.decode()
    post("sandbox", delivered(row))
    text = admin_client.get(page).content.decode()
    assert "DELIVERED" in text
    assert "its provider reports DELIVERED: Mark as sent may be right" in text
