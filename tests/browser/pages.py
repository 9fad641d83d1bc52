"""The console's pages as a person sees them: the one place that knows where on a page something is.

Tests say what an operator does; when a page is rebuilt, only this module changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.browser.visitor import BrowserWindow

FRONT = "/admin/"
LOGIN = "/admin/login/"
DEAD_LETTERS = "/admin/notifications/deadletter/"
NOTIFICATIONS = "/admin/notifications/notification/"
PROVIDERS = "/admin/notifications/providerhealth/"
BULK_ACTS = "/admin/bulk/"
BULK_PREVIEW = "/admin/bulk/preview/?act=retry"
PAUSES = "/admin/notifications/pause/"
WEBHOOK_EVENTS = "/admin/webhooks/webhookevent/"
BAR = "nav.nq-bar"


def forged_retry(notification_id: UUID) -> tuple[str, dict[str, str]]:
    """Where the form of a retry is sent, and what it holds, for somebody who has no such form."""
    fields = {"action": "retry", "_selected_action": str(notification_id), "confirmed": "yes", "reason": "by hand"}
    return DEAD_LETTERS, fields


@dataclass(frozen=True, slots=True)
class KeyStep:
    """Something done without a mouse.

    Attributes:
        reach: the element that the focus has to come to, by Tab or, where it stands further up, by Shift+Tab.
        keys: what is pressed there.
        text: what is typed there first.
        leads_to: what the page that comes of it shows.
    """

    reach: str
    keys: str = ""
    text: str = ""
    leads_to: str = ""
    is_above: bool = False


def way_to_retry_all(reason: str) -> tuple[KeyStep, ...]:
    """From the front page to the end of a retry of all dead letters."""
    return (
        KeyStep(f"{BAR} a[href='{DEAD_LETTERS}']", "Enter", leads_to="#changelist"),
        KeyStep("select[name=action]", text="Retry"),
        KeyStep("#action-toggle", "Space"),
        KeyStep("button[name=index]", "Enter", is_above=True, leads_to="form.nq-confirm"),
        KeyStep("#id_reason", text=reason),
        KeyStep("form.nq-confirm input[type=submit]", "Enter", leads_to="ul.messagelist"),
    )


def notification(notification_id: UUID) -> str:
    return f"{NOTIFICATIONS}{notification_id}/change/"


class LoginPage:
    def __init__(self, window: BrowserWindow) -> None:
        self._window = window
        self.page = window.go(FRONT)  # which leads to the login

    def log_in(self, name: str, password: str) -> None:
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()
        self.page.locator(BAR).wait_for()


class FrontPage:
    def __init__(self, window: BrowserWindow) -> None:
        self._window = window
        self.page = window.go(FRONT)

    def figure(self, label: str) -> str:
        """The number on a tile."""
        return str(self.page.locator(".nq-tiles li", has_text=label).locator("b").first.inner_text())

    def outcome_total(self, status: str) -> str:
        """The total beside the chart of that status."""
        words: str = self.page.locator(f".nq-chart-{status.lower()} figcaption").inner_text()
        return words.removeprefix(words.split()[0]).split()[0]

    def open_dead_letters(self) -> DeadLetters:
        self.page.locator(".nq-tiles a", has_text="dead letters").click()
        return DeadLetters(self.page)


class DeadLetters:
    """The list, and what can be done to what is ticked."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator("#changelist").wait_for()

    @classmethod
    def opened(cls, window: BrowserWindow, page: Any = None) -> DeadLetters:
        return cls(window.go(DEAD_LETTERS, page))

    @property
    def count(self) -> int:
        return int(self.page.locator("#result_list tbody tr").count())

    @property
    def acts(self) -> list[str]:
        """What the page offers to do; empty for those who may not act."""
        offered: list[str] = self.page.locator("select[name=action] option").all_inner_texts()
        return [text for text in offered if text.strip("- ")]

    @property
    def tick_boxes(self) -> int:
        return int(self.page.locator("input[type=checkbox]").count())

    def narrow(self, filter_name: str) -> None:
        """Follow one of the filters beside the list."""
        self.page.locator("#changelist-filter a", has_text=filter_name).first.click()
        self.page.wait_for_load_state()

    def drill_down(self, row: int = 0) -> NotificationPage:
        self.page.locator("#result_list tbody tr").nth(row).locator("th a").click()
        return NotificationPage(self.page)

    def ask_to_retry_all(self) -> ConfirmRetry:
        """Tick everything and choose the act: what follows is a preview, nothing is done yet."""
        for box in self.page.locator("input.action-select").all():  # the one that ticks them all is a script
            box.check()
        self.page.locator("select[name=action]").select_option("retry")
        self.page.locator("button[name=index]").click()
        return ConfirmRetry(self.page)


class ConfirmRetry:
    """The preview, which asks for the reason."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator("form.nq-confirm").wait_for()

    @property
    def previewed_count(self) -> int:
        return int(self.page.locator(".nq-chosen tbody tr").count())

    def confirm(self, reason: str) -> list[str]:
        """Go on; returns what the page says came of it."""
        self.page.bring_to_front()  # chromium is slow to draw what nobody sees
        self.page.get_by_label("Reason, for the record").fill(reason)
        self.page.locator("form.nq-confirm input[type=submit]").click()
        DeadLetters(self.page)
        said: list[str] = self.page.locator("ul.messagelist li").all_inner_texts()
        return said


class NotificationPage:
    def __init__(self, page: Any) -> None:
        self.page = page
        page.wait_for_url("**/change/")

    @classmethod
    def opened(cls, window: BrowserWindow, notification_id: UUID) -> NotificationPage:
        return cls(window.go(notification(notification_id)))

    @property
    def text(self) -> str:
        return str(self.page.locator("#content").inner_text())

    @property
    def control_count(self) -> int:
        """How many things there are to press or to fill in."""
        controls = "#content button, #content input:not([type=hidden]), #content select, #content textarea"
        return int(self.page.locator(controls).count())
