"""What is shown and what is typed are in one zone, and the page names it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from notifications.models import Notification
from notifyq.roles import Role
from tests.browser import IN_THE_BROWSER, pages
from tests.browser.visitor import Visitors
from tests.support.factories import NotificationFactory

pytestmark = IN_THE_BROWSER
KOLKATA = timedelta(hours=5, minutes=30)


def test_times__in_another_zone__are_shown_typed_and_told_in_it(visitors: Visitors) -> None:
    window = visitors.open(Role.OPERATOR, timezone_id="Asia/Kolkata")
    at = (datetime.now(UTC) + timedelta(days=2)).replace(microsecond=0)
    row = NotificationFactory(send_at=at, due_at=at)
    page = window.go(pages.notification(row.pk))

    assert page.locator("#nq-zone").inner_text().startswith("Times in Asia/Kolkata (UTC+5:30)")
    shown, later = f"{at + KOLKATA:%Y-%m-%d %H:%M:%S}", at + timedelta(hours=1)
    assert shown in page.locator("#story").inner_text()
    page.locator("summary", has_text="Reschedule").click()
    page.get_by_label("At (Asia/Kolkata)").fill(f"{later + KOLKATA:%Y-%m-%dT%H:%M:%S}")
    page.locator("#reschedule-reason").fill("an hour later")
    page.get_by_role("button", name="Reschedule").click()

    told = page.locator("ul.messagelist").inner_text()
    assert told == f"Rescheduled: it is not sent before {later + KOLKATA:%Y-%m-%d %H:%M:%S}."
    assert Notification.objects.get().send_at == later


@pytest.mark.parametrize("address", [pages.BULK_PREVIEW, f"{pages.DEAD_LETTER_LIST}?kind=dead"])
def test_filter__by_a_time__comes_back_as_it_was_typed(visitors: Visitors, address: str) -> None:
    page = visitors.open(Role.OPERATOR, timezone_id="Asia/Kolkata").go(address)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")

    page.locator("#id_after").fill("2026-01-31T08:00:00")
    page.get_by_role("button", name="Filter" if "list" in address else "Look").click()
    page.wait_for_url("**after=2026-01-31T02%3A30%3A00Z**")

    assert page.locator("#id_after").input_value() in ("2026-01-31T08:00:00", "2026-01-31T08:00")
    assert "(Asia/Kolkata)" in page.locator("label[for=id_after]").text_content()


def test_zone__changed_to_utc__holds_for_times_fields_and_the_next_page(visitors: Visitors) -> None:
    telephone = visitors.open(Role.OPERATOR, timezone_id="Asia/Kolkata", viewport={"width": 390, "height": 844})
    row = NotificationFactory()
    page = telephone.go(f"{pages.BULK_PREVIEW}&after=2026-01-31T02:30:00Z")

    page.get_by_role("button", name="Show UTC").click()

    assert page.locator("#id_after").input_value() in ("2026-01-31T02:30:00", "2026-01-31T02:30")
    assert "(UTC)" in page.locator("label[for=id_after]").text_content()
    telephone.go(pages.notification(row.pk))
    assert page.locator("#nq-zone").inner_text().startswith("Times in UTC")
    created = Notification.objects.get().created_at
    assert f"{created:%Y-%m-%d %H:%M:%S}" in page.locator("#story").inner_text()


def test_stock_lists__of_django__show_their_times_alike(visitors: Visitors) -> None:
    window = visitors.open(Role.ADMINISTRATOR, timezone_id="Asia/Kolkata")
    created = NotificationFactory().client.created_at

    page = window.go("/admin/notifications/client/")

    assert page.locator("td.field-created_at").inner_text() == f"{created + KOLKATA:%Y-%m-%d %H:%M:%S}"
