"""The console for people who see, hear or move differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from notifications import services
from notifications.models import Notification, OperatorAction, ProviderHealth
from notifications.status import Status
from notifyq.roles import Role
from tests.browser import IN_THE_BROWSER, pages
from tests.browser.axe import grave_faults
from tests.browser.pages import DeadLetters, Notifications, WebhookEvents
from tests.browser.seed import seed
from tests.browser.visitor import BrowserWindow, Visitors
from webhooks.models import WebhookEvent

pytestmark = IN_THE_BROWSER
PRESSES_MOST = 60
COLOURS = ["color-contrast", "link-in-text-block"]
_WIDTH = "() => document.documentElement.scrollWidth"
_HAS_VISIBLE_FOCUS = "(s) => document.activeElement.matches(s) && document.activeElement.matches(':focus-visible')"


@pytest.fixture
def story(db: None) -> Notification:
    return seed()


def faults_of(window: BrowserWindow, addresses: list[str], rules: Sequence[str]) -> Iterator[str]:
    for address in addresses:
        page = window.go(address)
        yield from (f"{address}: {fault}" for fault in grave_faults(page, rules))


@pytest.mark.parametrize(("scheme", "rules"), [("light", []), ("dark", COLOURS)], ids=["light", "dark"])
def test_pages__looked_at_by_axe__have_no_grave_fault(
    visitors: Visitors, story: Notification, scheme: str, rules: list[str]
) -> None:
    stranger, operator = visitors.open(None, color_scheme=scheme), visitors.open(Role.OPERATOR, color_scheme=scheme)
    addresses = [pages.FRONT, pages.DEAD_LETTERS, pages.DEAD_LETTER_LIST, pages.NOTIFICATIONS, pages.PAUSES]
    addresses += [pages.notification(story.pk), pages.PROVIDERS, pages.WEBHOOK_EVENTS, pages.BULK_PREVIEW]
    services.trip_breaker("SMS", "sandbox", reason="it is slow", by="ada")
    addresses += [pages.TRIP_PROVIDER, pages.breaker(ProviderHealth.objects.get().pk), pages.CONTROL_ACTS]
    addresses += [pages.REDELIVER_PREVIEW, pages.ACTS, pages.webhook_event(WebhookEvent.objects.latest("pk").pk)]

    faults = [*faults_of(stranger, [pages.LOGIN], rules), *faults_of(operator, addresses, rules)]
    preview = DeadLetters.opened(operator).ask_to_retry_all()
    faults += [f"the preview: {fault}" for fault in grave_faults(preview.page, rules)]
    reschedule = Notifications.opened(operator).tick_all().ask_to("Reschedule")
    faults += [f"the preview of another time: {fault}" for fault in grave_faults(reschedule.page, rules)]
    events = WebhookEvents.opened(operator, "?status=DELIVERED")
    events.tick(1)
    faults += [f"the ticked events: {fault}" for fault in grave_faults(events.ask_to_redeliver().page, rules)]
    progress = DeadLetters.opened(operator).ask_to_retry_what_matches().confirm("looked at by axe")
    faults += [f"the progress: {fault}" for fault in grave_faults(progress.page, rules)]
    faults += faults_of(operator, [pages.BULK_ACTS, pages.FRONT], rules)  # which shows the act by now

    assert not faults, "\n".join(faults)


def test_pages__on_a_telephone__do_not_have_to_be_moved_sideways(visitors: Visitors, story: Notification) -> None:
    telephone = visitors.open(Role.OPERATOR, viewport={"width": 390, "height": 844})
    addresses = [pages.FRONT, pages.DEAD_LETTERS, pages.DEAD_LETTER_LIST, pages.NOTIFICATIONS]
    addresses += [pages.notification(story.pk), pages.BULK_PREVIEW, pages.WEBHOOK_EVENTS, pages.REDELIVER_PREVIEW]

    widths = {address: telephone.go(address).evaluate(_WIDTH) for address in addresses}

    assert {address: width for address, width in widths.items() if width > 390} == {}


@pytest.mark.usefixtures("story")
def test_keyboard__alone__leads_through_the_bar_to_a_retry(operator: BrowserWindow) -> None:
    page = operator.go(pages.FRONT)
    count = Notification.objects.filter(status=Status.DEAD_LETTERED).count()

    for step in pages.way_to_retry_all("by keyboard"):
        reach(page, step.reach, "Shift+Tab" if step.is_above else "Tab")
        page.keyboard.type(step.text)
        if step.keys:
            page.keyboard.press(step.keys)
        if step.leads_to:
            page.locator(step.leads_to).wait_for()

    assert OperatorAction.objects.filter(reason="by keyboard", action="RETRY").count() == count > 0


def reach(page: Any, selector: str, key: str) -> None:
    """Press a key until the focus is on such an element, and can be seen there."""
    for _ in range(PRESSES_MOST):
        if page.evaluate(_HAS_VISIBLE_FOCUS, selector):
            return
        page.keyboard.press(key)
    pytest.fail(f"{PRESSES_MOST} times {key} do not lead to {selector}")
