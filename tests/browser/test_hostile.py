"""Whatever strangers put into a notification is text to the console, and never anything else.

That no page showed a dialog, broke its content security policy or asked for an image of theirs is seen by `visitors`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from notifications.models import Client, ControlAct, Notification, OperatorAction, Pause, ProviderHealth, Worker
from notifications.status import Status
from notifications.verdict import Outcome
from tests.browser import IN_THE_BROWSER, pages
from tests.browser.pages import DeadLetters, FrontPage
from tests.browser.visitor import BrowserWindow
from tests.support.factories import AttemptFactory, NotificationFactory
from tests.support.webhook_rows import an_endpoint, an_event

pytestmark = IN_THE_BROWSER
EVIL = "\"'><script>alert(1)</script><img src=//evil.invalid/x onerror=alert(2)><style>*{display:none}</style>"
ESCAPED = "&lt;script&gt;alert(1)"
REFRESH_MILLISECONDS = 6_000
LINK = "javascript:alert(3)"


@pytest.fixture
def hostile(db: None) -> Notification:
    """As the tables would hold it had every check before them failed."""
    client = Client.objects.create(name=EVIL[:100])
    row = NotificationFactory(
        client=client,
        status=Status.DEAD_LETTERED,
        recipient=f"{EVIL}@example.com",
        reference=EVIL,
        user_id=LINK,
        idempotency_key=EVIL,
        last_error_code=EVIL[:40],
        last_error_message=EVIL,
        content__subject=EVIL,
        content__body=f"{EVIL} {LINK}",
        content__html_body=f"<html><body onload=alert(4)>{EVIL}</body></html>",
        content__from_name=EVIL,
        content__metadata={EVIL: EVIL},
    )
    AttemptFactory(notification=row, outcome=Outcome.TEMPORARY, error_code=EVIL[:40], error_message=EVIL)
    OperatorAction.objects.create(
        notification=row, action="RETRY", actor_kind="USER", actor=EVIL, reason=EVIL, status_before="DEAD_LETTERED"
    )
    Pause.objects.create(scope="CLIENT", value=str(client.pk), created_by=EVIL, reason=EVIL)
    Worker.objects.create(id="w", role="delivery", host=EVIL, pid=1)
    ControlAct.objects.create(control="BREAKER", name="EMAIL sandbox", action="TRIP", actor=EVIL, reason=EVIL)
    ProviderHealth.objects.create(
        channel="EMAIL", provider="sandbox", last_error_code=EVIL[:40], last_error_message=EVIL, act_reason=EVIL
    )
    an_event(an_endpoint(client=client, description=EVIL, disabled_reason="", url=f"https://evil.invalid/{EVIL}"))
    return row


def addresses(row: Notification) -> Iterator[str]:
    yield from (pages.FRONT, pages.NOTIFICATIONS, pages.PAUSES, pages.WEBHOOK_EVENTS)
    yield from (pages.DEAD_LETTERS, pages.DEAD_LETTER_LIST, pages.notification(row.pk))
    yield f"/admin/notifications/deadletter/{row.pk}/change/"
    yield from ("/admin/notifications/operatoraction/", "/admin/notifications/attempt/")
    yield from ("/admin/webhooks/webhookendpoint/", pages.PROVIDERS, pages.BULK_PREVIEW)
    yield from (pages.TRIP_PROVIDER, pages.breaker(ProviderHealth.objects.get().pk), pages.CONTROL_ACTS)
    yield f"{pages.BULK_PREVIEW}&error_code={quote(EVIL)}&recipient={quote(EVIL)}"
    yield f"{pages.NOTIFICATIONS}?q={quote(EVIL)}&status={quote(EVIL)}"
    yield f"{pages.DEAD_LETTER_LIST}?q={quote(EVIL)}&error_code={quote(EVIL[:40])}&client={quote(EVIL)}"
    yield f"{pages.REDELIVER_PREVIEW}&error_code={quote(EVIL)}"
    yield f"{pages.FRONT}?span={quote(EVIL)}"


def is_harmless(page: Any) -> bool:
    """No element of theirs has come to be."""
    theirs = "script:not([src]), img[src*=evil], [onerror], [onload], a[href^='javascript:'], #content style"
    return bool(page.locator(theirs).count() == 0 and page.locator("#content").is_visible())


def test_hostile__on_every_page__is_only_text(operator: BrowserWindow, hostile: Notification) -> None:
    for address in addresses(hostile):
        page = operator.go(address)
        assert is_harmless(page), address
    shown = operator.go(pages.notification(hostile.pk)).content()
    assert shown.count(ESCAPED) > 5


def test_hostile__acted_upon__is_only_text_in_what_is_asked_and_answered(
    operator: BrowserWindow, hostile: Notification
) -> None:
    preview = DeadLetters.opened(operator).ask_to_retry_all()
    assert is_harmless(preview.page)
    assert "done for 1 of 1" in preview.confirm(EVIL)[0]
    assert is_harmless(preview.page)
    assert OperatorAction.objects.filter(reason=EVIL).count() == 2


def test_hostile__all_that_matches_acted_upon__is_only_text_in_preview_and_progress(
    operator: BrowserWindow, hostile: Notification
) -> None:
    preview = DeadLetters.opened(operator).ask_to_retry_what_matches()
    assert is_harmless(preview.page)
    assert is_harmless(preview.confirm(EVIL).page)
    for address in (pages.BULK_ACTS, f"{pages.BULK_PREVIEW}&error_code={quote(EVIL)}&recipient={quote(EVIL)}"):
        assert is_harmless(operator.go(address))


def test_front_page__part_that_refreshes_itself__is_only_text(operator: BrowserWindow, hostile: Notification) -> None:
    operator.page.clock.install()
    page = FrontPage(operator).page
    with page.expect_response(lambda answer: "X-Console-Part" in answer.request.headers or "fresh" in answer.url):
        page.clock.fast_forward(REFRESH_MILLISECONDS)
    page.wait_for_load_state("networkidle")
    assert is_harmless(page)
