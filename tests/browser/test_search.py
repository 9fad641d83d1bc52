"""Looking for somebody leaves no trace of whom in any address that the browser asks for."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from notifications.status import Status
from notifyq.roles import Role
from tests.browser import IN_THE_BROWSER, pages
from tests.browser.visitor import Visitors
from tests.support.factories import NotificationFactory

pytestmark = IN_THE_BROWSER
TERM = "ada.private@example.org"


def test_search__for_a_recipient_without_javascript__stands_in_no_address(visitors: Visitors) -> None:
    row = NotificationFactory(status=Status.DEAD_LETTERED, recipient=TERM)
    NotificationFactory(status=Status.DEAD_LETTERED, recipient="bob@example.org")
    window = visitors.open(Role.OPERATOR, java_script_enabled=False)
    asked: list[str] = []
    window.page.on("request", lambda request: asked.extend([request.url, request.headers.get("referer", "")]))

    page = window.go(pages.NOTIFICATIONS)
    page.get_by_label("Find").fill(TERM)
    page.get_by_role("button", name="Search").click()
    assert shown(page, "#result_list tbody tr") == 1
    page.get_by_role("link", name="DEAD_LETTERED").click()
    page.wait_for_url("**status=DEAD_LETTERED**")
    assert shown(page, "#result_list tbody tr") == 1
    assert page.get_by_label("Find").input_value() == TERM

    page = window.go(pages.DEAD_LETTER_LIST)
    page.locator("details.nq-filter summary").click()
    page.get_by_label("Recipient").fill(TERM)
    page.get_by_role("button", name="Filter").click()
    page.locator(".nq-chips").wait_for()
    assert shown(page, "table.nq-cards tbody tr") == 1
    page.locator("a.nq-bulk").first.click()
    assert page.get_by_label("Recipient, exactly").input_value() == TERM
    page.get_by_role("button", name="Look").click()
    page.locator(".nq-big").wait_for()
    page.locator("section[aria-labelledby=preview] td a").click()
    page.wait_for_url(f"**/{row.pk}/change/")

    assert len(asked) > 10
    assert [url for url in asked if "ada.private" in unquote(url)] == []


def shown(page: Any, rows: str) -> int:
    page.locator(rows).first.wait_for()
    return int(page.locator(rows).count())
