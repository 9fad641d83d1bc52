"""Rows of the list of notifications, ticked and acted upon together."""

from __future__ import annotations

from notifications import services
from notifications.models import Notification, OperatorAction
from notifications.status import Status
from notifyq.roles import Role
from ratelimits.models import RateLimitRule
from tests.browser import IN_THE_BROWSER, pages
from tests.browser.axe import grave_faults
from tests.browser.pages import Notifications, StockList
from tests.browser.visitor import BrowserWindow, Visitors
from tests.support.factories import NotificationFactory, ago

pytestmark = IN_THE_BROWSER


def test_cancel__of_all_on_the_page__is_previewed_done_and_seen(operator: BrowserWindow) -> None:
    waiting = NotificationFactory.create_batch(2, send_at=ago(-3600))
    sent = NotificationFactory(status=Status.SENT)
    listed = Notifications.opened(operator).tick_all()
    assert listed.ticked_text == "3 ticked:"

    preview = listed.ask_to("Cancel")
    assert preview.previewed_count == 2
    assert [text.split(" …")[0] for text in preview.left] == ["1: it is SENT"]
    assert grave_faults(preview.page) == []
    said = preview.confirm("ordered twice")

    assert said[0].startswith("Cancel: done for 2 of 2. See …")
    assert preview.page.locator("ul.messagelist a").count() == 2
    back = Notifications(operator.page)
    assert [back.status_of(row.pk) for row in (*waiting, sent)] == ["CANCELLED", "CANCELLED", "SENT"]
    acts = OperatorAction.objects.values_list("notification_id", "action", "actor", "reason")
    assert set(acts) == {(row.pk, "CANCEL", "operator", "ordered twice") for row in waiting}


def test_cancel__without_javascript_and_in_two_tabs__has_one_effect(visitors: Visitors) -> None:
    row = NotificationFactory(send_at=ago(-3600))
    plain = visitors.open(Role.OPERATOR, java_script_enabled=False)
    previews = [Notifications.opened(plain, tab).tick(row.pk).ask_to("Cancel") for tab in (plain.page, plain.tab())]

    said = [preview.confirm("pressed twice") for preview in previews]

    assert said[0] == [f"Cancel: done for 1 of 1. See …{str(row.pk)[-12:]}."]
    assert said[1][0].startswith("1 left alone: since you opened the page, operator has acted on it")
    assert Notification.objects.get().status == Status.CANCELLED
    assert OperatorAction.objects.count() == 1


def test_viewer__of_the_list__has_nothing_to_tick_or_press(viewer: BrowserWindow) -> None:
    NotificationFactory()

    assert Notifications.opened(viewer).acts == []
    assert viewer.page.locator("input[name=row]").count() == 0


def test_resume__of_what_is_ticked__asks_for_a_reason_and_is_done(operator: BrowserWindow) -> None:
    services.pause("CHANNEL", "SMS", by="ada")
    listed = StockList(operator, pages.PAUSES)

    listed.ask_to("Resume sending")
    assert grave_faults(listed.page) == []

    assert listed.confirm("the outage is over") == ["CHANNEL SMS goes on."]


def test_change__of_a_limit_by_enter_in_the_reason__is_done(operator: BrowserWindow) -> None:
    rule = RateLimitRule.objects.create(channel="SMS", limit_count=5, window_seconds=60)
    listed = StockList(operator, pages.LIMITS)
    listed.ask_to("Change the limit or the window")
    listed.page.get_by_label("Most sends to one recipient").fill("9")
    listed.page.get_by_role("button", name="Show what comes of it").click()

    listed.page.get_by_label("Reason, for the record").fill("they asked")
    listed.page.get_by_label("Reason, for the record").press("Enter")

    listed.page.locator("ul.messagelist").wait_for()
    rule.refresh_from_db()
    assert rule.terms == "9 in 60 s"
