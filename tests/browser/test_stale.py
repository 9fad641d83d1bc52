"""The front page when it cannot be refreshed, and without JavaScript."""

from __future__ import annotations

import re
from typing import Any

import pytest

from notifyq.roles import Role
from tests.browser import IN_THE_BROWSER, pages
from tests.browser.axe import grave_faults
from tests.browser.visitor import BrowserWindow, Visitors

pytestmark = [*IN_THE_BROWSER, pytest.mark.django_db(transaction=True)]
STALE = "[data-stale]"
OF_WHEN = re.compile(r"What stands here is of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.")


def front_of(window: BrowserWindow) -> Any:
    """The front page, which is refreshed every 0.2 s here."""

    def hurried(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace('refresh-seconds="5"', 'refresh-seconds="0.2"'))

    window.page.route(f"**{pages.FRONT}", hurried)
    return window.go(pages.FRONT)


@pytest.mark.parametrize(
    ("status", "why"), [(None, "the server does not answer"), (503, "answered with an error (503)")]
)
def test_front__cannot_be_refreshed__says_so_with_the_time_and_goes_on(
    viewer: BrowserWindow, status: int | None, why: str
) -> None:
    page = front_of(viewer)
    fresh = re.compile(r"/overview/fresh/")
    broken = (lambda route: route.abort()) if status is None else (lambda route: route.fulfill(status=status, body=""))
    page.route(fresh, broken)
    page.locator(STALE).wait_for()
    text = page.locator(STALE).inner_text()
    assert why in text
    assert OF_WHEN.search(text)
    assert not list(grave_faults(page, []))
    page.unroute(fresh)
    page.locator(STALE).wait_for(state="detached")
    viewer._troubles[:] = [t for t in viewer._troubles if "answered 503" not in t]  # which this test has made


def test_front__login_has_ended__says_so_and_goes_on_after_the_next(visitors: Visitors) -> None:
    window = visitors.open(Role.VIEWER)
    page = front_of(window)
    cookies = window._context.cookies()
    window._context.clear_cookies()
    page.locator(STALE).wait_for()
    assert "your login has ended" in page.locator(STALE).inner_text()
    assert page.locator(f"{STALE} a").inner_text() == "Log in again"
    window._context.add_cookies(cookies)
    page.locator(STALE).wait_for(state="detached")


def test_front__without_javascript__does_not_say_that_it_refreshes_itself(visitors: Visitors) -> None:
    page = visitors.open(Role.VIEWER, java_script_enabled=False).go(pages.FRONT)
    assert not page.get_by_text("refreshes itself").is_visible()
    assert page.get_by_role("link", name="load it again").is_visible()


def test_front__with_javascript__keeps_the_focus_on_a_link_and_shows_the_axis(viewer: BrowserWindow) -> None:
    page = front_of(viewer)
    assert page.get_by_text("refreshes itself").is_visible()
    assert [re.fullmatch(r"\d\d:\d\d", t) is not None for t in page.locator(".nq-axis time").all_inner_texts()] == [
        True
    ] * 2
    viewer.go(f"{pages.FRONT}?span=week", viewer.tab())
    week = viewer._context.pages[-1]
    assert re.fullmatch(r"(\d\d-\d\d \d\d:\d\d\s*){2}now", week.locator(".nq-axis").inner_text())
    week.close()
    page.bring_to_front()
    link = page.locator(".nq-tiles a").first
    link.focus()
    link.evaluate("link => { link.dataset.old = '' }")
    page.locator(".nq-tiles a:not([data-old])").first.wait_for()
    page.wait_for_function("() => document.activeElement.matches('.nq-tiles a:not([data-old])')")
