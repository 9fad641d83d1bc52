"""Who may act in the console, and how often it counts."""

from __future__ import annotations

from notifications.models import BulkAct, Notification, OperatorAction
from notifications.status import Status
from notifyq.roles import Role
from tests.browser import IN_THE_BROWSER, pages
from tests.browser.pages import DeadLetters, FrontPage, NotificationPage
from tests.browser.visitor import BrowserWindow, Visitors
from tests.support.factories import NotificationFactory, ago
from tests.support.rows import all_are

pytestmark = IN_THE_BROWSER
_POST = """
async ([address, fields]) => {
  const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
  const body = new URLSearchParams({ ...fields, csrfmiddlewaretoken: token });
  return (await fetch(address, { method: "POST", body })).status;
}
"""


def test_retry__confirmed_in_two_tabs__has_one_effect(operator: BrowserWindow) -> None:
    row = NotificationFactory(status=Status.DEAD_LETTERED)
    tabs = [operator.page, operator.tab()]
    previews = [DeadLetters.opened(operator, tab).ask_to_retry_all() for tab in tabs]

    said = [preview.confirm("pressed twice") for preview in previews]

    assert said[0][0].startswith("Retry: done for 1 of 1. See …")
    assert not [text for text in said[1] if "done" in text]
    row.refresh_from_db()
    assert (row.status, row.operator_retry_count) == (Status.PENDING, 1)
    assert OperatorAction.objects.count() == 1


def test_cancel__pressed_in_two_tabs__has_one_effect_and_says_so(operator: BrowserWindow) -> None:
    row = NotificationFactory(send_at=ago(-3600))
    tabs = [NotificationPage.opened(operator, row.pk, tab) for tab in (operator.page, operator.tab())]

    said = [tab.act("Cancel", "pressed twice") for tab in tabs]

    assert "Nothing was done" not in said[0][0]
    assert said[1][0].startswith("Nothing was done.")
    row.refresh_from_db()
    assert row.status == Status.CANCELLED
    assert OperatorAction.objects.get().reason == "pressed twice"


def test_retry__without_javascript__works_all_the_same(visitors: Visitors) -> None:
    row = NotificationFactory(status=Status.DEAD_LETTERED)
    plain = visitors.open(Role.OPERATOR, java_script_enabled=False)

    assert FrontPage(plain).figure("dead letter") == "1"
    said = DeadLetters.opened(plain).ask_to_retry_all().confirm("without any script")

    assert said[0].startswith("Retry: done for 1 of 1. See …")
    assert OperatorAction.objects.get().notification_id == row.pk


def test_viewer__sees_nothing_to_press_and_can_do_nothing_by_hand(viewer: BrowserWindow) -> None:
    row = NotificationFactory(status=Status.DEAD_LETTERED)
    dead = DeadLetters.opened(viewer)

    assert (dead.count, dead.acts, dead.tick_boxes) == (1, [], 0)
    assert row.recipient not in dead.page.content()
    assert dead.page.evaluate(_POST, pages.forged_retry(row.pk)) in (200, 403)
    shown = NotificationPage.opened(viewer, row.pk)
    assert shown.control_count == 0
    assert row.recipient not in shown.page.content()

    assert all_are(Status.DEAD_LETTERED, 1)
    assert not OperatorAction.objects.exists()
    assert set(Notification.objects.values_list("operator_retry_count", flat=True)) == {0}


def test_bulk__filter_changed_after_the_look__must_be_looked_at_first(operator: BrowserWindow) -> None:
    row = NotificationFactory(status=Status.DEAD_LETTERED)
    page = operator.go(pages.BULK_PREVIEW)
    client = page.get_by_role("combobox", name="Client", exact=True)
    confirm, told = page.locator("[data-confirm]"), page.get_by_text("press Look first")

    client.select_option(str(row.client_id))
    assert (confirm.is_disabled(), told.is_visible()) == (True, True)
    client.select_option("")
    assert (confirm.is_disabled(), told.is_visible()) == (False, False)
    client.select_option(str(row.client_id))
    page.get_by_role("button", name="Look").click()
    page.wait_for_url("**client=*")
    page.get_by_label("Reason, for the record").fill("looked at")
    page.get_by_label("Reason, for the record").press("Enter")
    page.wait_for_url("**/admin/bulk/*-*/")

    assert BulkAct.objects.get().selection["client_id"] == str(row.client_id)
