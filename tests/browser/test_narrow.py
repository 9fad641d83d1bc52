"""Lists where there is little room: nothing is cut off, the filters stand before the rows, the menu says where."""

from __future__ import annotations

from typing import Any

import pytest

from notifications import services
from notifications.models import ActorKind, Client, Notification
from notifications.services import Actor
from notifyq.roles import Role
from tests.browser import IN_THE_BROWSER, pages
from tests.browser.seed import seed
from tests.browser.visitor import Visitors

pytestmark = IN_THE_BROWSER
LISTS = [pages.NOTIFICATIONS, pages.WEBHOOK_EVENTS, pages.PROVIDERS, pages.BULK_ACTS, pages.ACTS]
LONG_NAME = "A client with quite a long name, Ltd. (production, Frankfurt)"
_CUT_OFF = "[...document.querySelectorAll('#changelist .results')].some((e) => e.scrollWidth > e.clientWidth + 1)"

_WIDER = "(tables) => tables.filter((t) => t.scrollWidth > t.closest('.nq-panel').clientWidth + 1).length"


@pytest.fixture
def full(db: None) -> None:
    seed()
    Client.objects.filter(pk=Notification.objects.latest("pk").client_id).update(name=LONG_NAME)
    services.trip_breaker("SMS", "sandbox", reason="it is slow", by="ada")
    dead = Notification.objects.filter(status="DEAD_LETTERED").latest("pk")
    services.retry(dead.pk, Actor(ActorKind.USER, "ada"), reason="the vendor is back")


def top(page: Any, selector: str) -> float:
    return float(page.locator(selector).first.bounding_box()["y"])


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_lists__however_wide_the_window__show_all_their_columns(visitors: Visitors, width: int) -> None:
    window = visitors.open(Role.OPERATOR, viewport={"width": width, "height": 844})

    assert [address for address in LISTS if window.go(address).evaluate(_CUT_OFF)] == []


@pytest.mark.usefixtures("full")
def test_tables__on_a_telephone__are_cards_with_nothing_cut_off(visitors: Visitors) -> None:
    window = visitors.open(Role.OPERATOR, viewport={"width": 390, "height": 844})

    for address, count in ((pages.BULK_PREVIEW, 1), (pages.REDELIVER_PREVIEW, 1), (pages.FRONT, 2)):
        cards = window.go(address).locator(".nq-cards")
        assert (address, cards.count(), cards.evaluate_all(_WIDER)) == (address, count, 0)
    assert window.page.locator("td[data-label=Why]", has_text="tripped by ada").is_visible()


@pytest.mark.usefixtures("full")
def test_lists__on_a_telephone__have_a_menu_and_folded_filters_before_the_rows(visitors: Visitors) -> None:
    page = visitors.open(Role.OPERATOR, viewport={"width": 390, "height": 844}).go(pages.NOTIFICATIONS)

    assert page.locator(f"{pages.BAR} summary").inner_text() == "Menu: Notifications"
    assert not page.locator(f"{pages.BAR} a").first.is_visible()
    page.locator(f"{pages.BAR} summary").click()
    assert page.locator(f"{pages.BAR} a", has_text="Clients").is_visible()
    page.locator(f"{pages.BAR} summary").click()
    assert top(page, "#changelist-filter") < top(page, "#result_list tbody tr") < 844
    page.locator("#changelist-filter summary", has_text="Filter").click()
    page.get_by_role("link", name="DEAD_LETTERED").click()
    page.locator("#result_list tbody tr").first.wait_for()
    assert page.locator("td.field-client").first.get_attribute("data-label") == "Client"
