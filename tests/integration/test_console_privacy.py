"""Every page of the console, as somebody sees it who may look at the queue but not into it, with private data
everywhere that clients, vendors and people could have put it."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client as Browser
from django.urls import reverse

from notifications import services
from notifications.models import (
    Attempt,
    InboxEntry,
    LookUp,
    Notification,
    OperatorAction,
    ProviderHealth,
    Receipt,
)
from notifications.status import Status
from notifyq.console import pages, scrubbed, shortened
from notifyq.roles import Role
from tests.support.bulk import begin
from tests.support.console import person
from tests.support.factories import NotificationFactory, ago
from tests.support.webhook_rows import an_endpoint, an_event
from webhooks.models import Redelivery, WebhookAttempt, WebhookEndpoint
from webhooks.status import EventStatus
from webhooks.story import place_of

pytestmark = pytest.mark.django_db
ADDRESS, PHONE = "ada.private@example.org", "+41790001234"
SAID = f"550 <{ADDRESS}> is unknown; call {PHONE}"
URL = "https://caller:url-password@hooks.example:8443/path-secret/x?token=query-secret"
PRIVATE = (
    *(ADDRESS, PHONE, "key-private", "reference-private", "user-private", "subject-private", "body-private"),
    *("metadata-private", "excerpt-private", "url-password", "caller", "path-secret", "query-secret"),
)


@pytest.fixture
def row() -> Notification:
    """One of each kind of row, with something private wherever that fits."""
    made = NotificationFactory(
        status=Status.DEAD_LETTERED,
        recipient=ADDRESS,
        idempotency_key="order-key-private-7",
        reference="order-reference-private-7",
        user_id="user-private-7",
        last_error_code="bounced",
        last_error_message=SAID,
        content__subject="subject-private",
        content__body="body-private",
        content__metadata={"who": "metadata-private"},
    )
    _of_its_way(made)
    _of_its_webhooks(made)
    _of_what_people_did(made)
    return made


def _of_its_way(made: Notification) -> None:
    attempt = {"cycle": 1, "number": 1, "hop": 1, "provider": "sandbox", "claim_token": uuid4()}
    at = {"started_at": ago(9), "finished_at": ago(8)}
    Attempt.objects.create(
        notification=made, outcome="REJECTED", error_code="bounced", error_message=SAID, worker_id="w", **attempt, **at
    )
    asked = {"first_asked_at": ago(8), "last_asked_at": ago(7), "asked_count": 2, "found": "UNKNOWN"}
    LookUp.objects.create(notification=made, cycle=1, provider="sandbox", error_message=SAID, **asked)
    report = {"provider": "sandbox", "status": "BOUNCED", "word": f"b {ADDRESS}", "text": SAID, "code": "5.1.1"}
    Receipt.objects.create(notification=made, event_id=f"e-{ADDRESS}", **report)
    InboxEntry.objects.create(
        client=made.client, notification=made, user_id="user-private-7", body="body-private", send_at=ago(9)
    )
    ProviderHealth.objects.create(
        channel="EMAIL", provider="sandbox", state="CLOSED", last_error_code="x", last_error_message=SAID,
        last_error_at=ago(9),
    )  # fmt: skip


def _of_its_webhooks(made: Notification) -> None:
    endpoint = an_endpoint(URL, client=made.client, description=f"of {ADDRESS}")
    event = an_event(
        endpoint, status=EventStatus.FAILED, notification=made, body='{"metadata": "metadata-private"}', attempt_count=1
    )
    answered = {"response_status": 500, "error_code": "http_500", "response_excerpt": f"excerpt-private {ADDRESS}"}
    at = {"started_at": ago(9), "finished_at": ago(8)}
    WebhookAttempt.objects.create(event=event, cycle=1, number=1, worker_id="w", claim_token=uuid4(), **answered, **at)
    why = {"actor_kind": "USER", "actor": "ops", "reason": SAID, "details": {"of": ADDRESS}}
    Redelivery.objects.create(event=event, status_before="FAILED", **why)


def _of_what_people_did(made: Notification) -> None:
    why = {"actor_kind": "USER", "actor": "ops", "reason": SAID, "details": {"of": ADDRESS}}
    OperatorAction.objects.create(notification=made, action="RETRY", status_before="FAILED", **why)
    services.pause("CHANNEL", "EMAIL", reason=SAID, by="ops")
    services.trip_breaker("EMAIL", "sandbox", reason=SAID, by="ops")
    begin(recipient=ADDRESS, reference="order-reference-private-7")
    _acts().update(reason=SAID)
    user = User.objects.create(username="ops")
    LogEntry.objects.log_actions(str(user.pk), [made.client], 2, SAID, single_object=True)


def addresses(row: Notification) -> Iterator[str]:
    """Every page that answers to GET: lists, rows, histories, and those of our own."""
    for model in admin.site._registry:
        place = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{place}_changelist")
        for found in model._default_manager.all()[:3]:
            yield from (reverse(f"{place}_{name}", args=[found.pk]) for name in ("change", "history"))
    for page in pages.pages:
        if "GET" in page.methods:
            arguments = [begun.pk for begun in _acts()] if "act_id" in page.path else []
            arguments = [row.pk] if "notification_id" in page.path else arguments
            yield reverse(f"admin:{page.name}", args=arguments)
    yield from ("/admin/", "/admin/notifications/", "/admin/webhooks/")
    dead, listed = reverse("admin:dead-letters-list"), reverse("admin:notifications_notification_changelist")
    yield from (f"{dead}?kind=all", f"{dead}?kind=all&recipient={ADDRESS}", f"{dead}?kind=all&q={ADDRESS}")
    yield from (f"{listed}?q={ADDRESS}", f"{listed}?recipient_of={row.pk}", f"{listed}?reference_of={row.pk}")
    yield f"{reverse('admin:dead-letters')}?kind=all"


def _acts() -> Any:
    from notifications.models import BulkAct

    return BulkAct.objects.all()


def test_viewer__every_page__shows_nothing_private(row: Notification) -> None:
    viewer, seen = person(Role.VIEWER), 0
    found = []
    for address in dict.fromkeys(addresses(row)):
        answer = viewer.get(address, follow=True)
        assert answer.status_code in (200, 403, 404), address
        page = html.unescape(answer.content.decode())
        seen += answer.status_code == 200
        found += [(address, private) for private in PRIVATE if private in page]

    assert not found
    assert seen > 45


def test_operator__those_pages__show_what_the_viewer_does_not_see(row: Notification) -> None:
    """So that the walk above cannot pass because nothing is there."""
    operator = person(Role.OPERATOR)
    pages = [html.unescape(operator.get(address, follow=True).content.decode()) for address in addresses(row)]

    missing = {private for private in PRIVATE if not any(private in page for page in pages)}

    assert missing == {"url-password", "caller", "query-secret"}  # secrets, which nobody is shown


@pytest.mark.parametrize(
    ("url", "with_path", "without"),
    [
        (URL, "https://hooks.example:8443/path-secret/x?…", "https://hooks.example:8443/…"),
        ("https://a.example/", "https://a.example/", "https://a.example"),
        ("https://a.example?x=1", "https://a.example?…", "https://a.example/…"),
        ("https://[::1]/a", "https://[::1]/a", "https://[::1]/…"),
    ],
)
def test_place__of_an_endpoint__tells_no_secret(url: str, with_path: str, without: str) -> None:
    endpoint = WebhookEndpoint(url=url)

    assert (place_of(endpoint), place_of(endpoint, with_path=False)) == (with_path, without)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (SAID, "550 <a…@example.org> is unknown; call +41…34"),
        ("to=ada@example.org: 079 000 12 34", "to=a…@example.org: 079…34"),
        ("550 5.1.1 at 2026-01-31 08:00:00", "550 5.1.1 at 2026-01-31 08:00:00"),
        ("id 01a22d95-5c94-7102-81bf-d6416b82a089", "id 01a22d95-5c94-7102-81bf-d6416b82a089"),
        ("worker host:4711:1", "worker host:4711:1"),
        ("12345678-1234-7123-8123-123456789012", "12345678-1234-7123-8123-123456789012"),
        ("550-5.7.26 by 192.168.100.200 at 08:00:01.123456", "550-5.7.26 by 192.168.100.200 at 08:00:01.123456"),
        ('{"sendAt": "2026-12-01T08:00:00+00:00"}', '{"sendAt": "2026-12-01T08:00:00+00:00"}'),
        ("2,000 of 10,000 in 3600 s", "2,000 of 10,000 in 3600 s"),
        ("at 2026-12-01 08:00, 079-123-45-67 said", "at 2026-12-01 08:00, 079…67 said"),
        *(
            (number, number[:3] + "…67")
            for number in ("+41 (79) 123 45 67", "+41.79.123.45.67", "+41\u00a079\u00a01234567")
        ),
        *(
            (number, number[:3] + "…00")
            for number in ("415-555-0100", "(415) 555-0100", "\u0664\u0661\u0665\u0665\u0665\u0665\u0660\u066100")
        ),
        ("tel:0791234567", "tel:079…67"),
        ('"ann secret"@example.com', '"…@example.com'),
        ("ann@localhost, ann@[10.0.0.1]", "a…@localhost, a…@[10.0.0.1]"),
        ("?to=ann%40example.com", "?to=a…@example.com"),
        ("fcm:TOKENabc is gone", "fcm:…bc is gone"),
    ],
)
def test_scrubbed__words__lose_addresses_and_nothing_else(text: str, shown: str) -> None:
    assert scrubbed(text) == shown


def test_scrubbed__what_is_known_to_be_private__goes_in_any_case() -> None:
    assert scrubbed("token fcm:abcdefgh is gone", "fcm:abcdefgh") == "token fcm:…gh is gone"
    assert (shortened("order-12345"), shortened("short")) == ("or…45", "…")


@pytest.mark.parametrize("record", ["operatoraction", "controlact"])
def test_search__by_a_part_of_what_is_masked__finds_nothing_for_a_viewer(row: Notification, record: str) -> None:
    address = reverse(f"admin:notifications_{record}_changelist")
    found = {
        role: person(role).get(f"{address}?q={ADDRESS[:5]}", follow=True).context["cl"].result_count
        for role in (Role.VIEWER, Role.OPERATOR)
    }
    assert found[Role.VIEWER] == 0 < found[Role.OPERATOR]


def test_neighbour__with_the_same_reference__is_reached_by_the_id_alone(row: Notification) -> None:
    same = NotificationFactory(client=row.client, reference=row.reference)
    NotificationFactory(reference=row.reference), NotificationFactory(client=row.client)
    viewer = person(Role.VIEWER)

    found = viewer.get(reverse("admin:notifications_notification_changelist"), {"reference_of": str(row.pk)})

    assert {each.pk for each in found.context["cl"].result_list} == {row.pk, same.pk}


def test_browser__of_nobody__is_led_to_the_login(row: Notification) -> None:
    assert "/login/" in Browser().get(reverse("admin:webhooks_webhookendpoint_changelist"))["Location"]
