"""Forms that were not filled in: what is wrong stands at its field, and is in sight on a telephone."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.models import OperatorAction
from notifications.status import Status
from notifyq.roles import Role
from tests.browser import IN_THE_BROWSER, pages
from tests.browser.pages import Notifications
from tests.browser.visitor import Visitors
from tests.support.factories import NotificationFactory

pytestmark = IN_THE_BROWSER
_SENDS = "[data-confirm], form.nq-confirm input[type=submit], details[open] form button"
_IN_SIGHT = "(e) => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight; }"


@pytest.mark.parametrize("scripts", [True, False])
def test_blank_reason__on_a_telephone__is_told_in_sight_and_linked_at_the_top(
    visitors: Visitors, scripts: bool
) -> None:
    row, *_ = NotificationFactory.create_batch(20, status=Status.DEAD_LETTERED)
    window = visitors.open(
        Role.OPERATOR, viewport={"width": 390, "height": 844}, java_script_enabled=scripts, color_scheme="dark"
    )

    send_blank(window.go(pages.BULK_PREVIEW))
    listed = Notifications.opened(window)
    for box in listed.page.locator("input[name=row]").all():
        box.check()
    send_blank(listed.ask_to("Retry").page)
    page = window.go(pages.notification(row.pk))
    page.locator("details.nq-act summary").first.click()
    send_blank(page)

    assert not OperatorAction.objects.exists()


def send_blank(page: Any) -> None:
    """A reason of one blank, which a browser takes for one; then look where one is."""
    page.get_by_label("Reason, for the record").fill(" ")
    with page.expect_navigation():
        page.locator(_SENDS).click()
    told = page.locator(".nq-error")
    told.wait_for()
    field = page.get_by_label("Reason, for the record")
    assert told.inner_text() == "Please give a reason."
    assert field.get_attribute("aria-describedby") == told.get_attribute("id")
    page.wait_for_function(f"({_IN_SIGHT})(document.querySelector('.nq-error'))")
    assert (
        page.get_by_role("link", name="Please give a reason.").get_attribute("href") == f"#{field.get_attribute('id')}"
    )
