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
DEAD_LETTERS = "/admin/dead-letters/"
DEAD_LETTER_LIST = "/admin/dead-letters/list/"
BULK_ACTS = "/admin/bulk/"
BULK_PREVIEW = "/admin/bulk/preview/?act=retry"
NOTIFICATIONS = "/admin/notifications/notification/"
PROVIDERS = "/admin/notifications/providerhealth/"
TRIP_PROVIDER = f"{PROVIDERS}add/"
ACTS = "/admin/notifications/operatoraction/"
CONTROL_ACTS = "/admin/notifications/controlact/"
PAUSES = "/admin/notifications/pause/"
LIMITS = "/admin/ratelimits/ratelimitrule/"
WEBHOOK_EVENTS = "/admin/webhooks/webhookevent/"
REDELIVER_PREVIEW = "/admin/webhooks/webhookevent/redeliver-all/?status=finished"
BAR = "nav.nq-bar"


def breaker(breaker_id: int) -> str:
    return f"{PROVIDERS}{breaker_id}/change/"


def webhook_event(event_id: UUID) -> str:
    return f"{WEBHOOK_EVENTS}{event_id}/change/"


def forged_retry(notification_id: UUID) -> tuple[str, dict[str, str]]:
    """Where the form of a retry is sent, and what it holds, for somebody who has no such form."""
    fields = {"act": "retry", "row": f"{notification_id}:0", "confirmed": "yes", "reason": "by hand"}
    return "/admin/dead-letters/act/", fields


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
        KeyStep(f"{BAR} a[href='{DEAD_LETTERS}']", "Enter", leads_to="section[aria-labelledby=groups]"),
        KeyStep("section[aria-labelledby=groups] p a", "Enter", leads_to=".nq-acts"),
        KeyStep(".nq-tick-all input", "Space"),
        KeyStep(".nq-acts button[value=retry]", "Enter", leads_to="form.nq-confirm"),
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

    @property
    def acts_in_hand(self) -> list[str]:
        """The bulk acts that are not done, with how far they are."""
        told: list[str] = self.page.locator("section[aria-labelledby=bulk-acts] li").all_inner_texts()
        return told

    def open_dead_letters(self) -> DeadLetterGroups:
        self.page.locator(f"{BAR} a", has_text="Dead letters").click()
        return DeadLetterGroups(self.page)


class DeadLetterGroups:
    """What ended undelivered, by why."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator("section[aria-labelledby=groups]").wait_for()

    @property
    def groups(self) -> list[tuple[str, str]]:
        """Error code and count of each."""
        rows = self.page.locator("section[aria-labelledby=groups] tbody tr").all()
        return [(row.locator("a").inner_text(), row.locator("td[data-label=Count]").inner_text()) for row in rows]

    def open_group(self, error_code: str) -> DeadLetters:
        self.page.locator("section[aria-labelledby=groups] a", has_text=error_code).click()
        return DeadLetters(self.page)


class DeadLetters:
    """The list, and what can be done to what is ticked."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator("nav[aria-label=Kinds]").wait_for()

    @classmethod
    def opened(cls, window: BrowserWindow, page: Any = None) -> DeadLetters:
        return cls(window.go(DEAD_LETTER_LIST, page))

    @property
    def count(self) -> int:
        return int(self.page.locator("table.nq-cards tbody tr").count())

    @property
    def acts(self) -> list[str]:
        """What the page offers to do; empty for those who may not act."""
        offered: list[str] = self.page.locator(".nq-acts button, .nq-row-acts a").all_inner_texts()
        return offered

    @property
    def tick_boxes(self) -> int:
        return int(self.page.locator("input[type=checkbox]").count())

    def drill_down(self, row: int = 0) -> NotificationPage:
        self.page.locator("td.nq-ended a").nth(row).click()
        return NotificationPage(self.page)

    def ask_to_retry_all(self) -> ConfirmTicked:
        """Tick everything and choose the act: what follows is a preview, nothing is done yet."""
        for box in self.page.locator("input[name=row]").all():  # the one that ticks them all is a script
            box.check()
        self.page.locator(".nq-acts button[value=retry]").click()
        return ConfirmTicked(self.page)

    def ask_to_retry_what_matches(self) -> BulkPreview:
        """Everything in the filter, on this page or not."""
        self.page.locator("a.nq-bulk[href*='act=retry']").click()
        return BulkPreview(self.page)


class Notifications:
    """The list of all, and what can be done to what is ticked."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator("#changelist").wait_for()

    @classmethod
    def opened(cls, window: BrowserWindow, page: Any = None) -> Notifications:
        return cls(window.go(NOTIFICATIONS, page))

    @property
    def acts(self) -> list[str]:
        """What the page offers to do; empty for those who may not act."""
        offered: list[str] = self.page.locator(".nq-acts button").all_inner_texts()
        return offered

    @property
    def ticked_text(self) -> str:
        """What the page says of how many are ticked."""
        return str(self.page.locator("[data-ticked]").inner_text())

    def tick_all(self) -> Notifications:
        self.page.get_by_label("All on this page").check()
        return self

    def tick(self, notification_id: UUID) -> Notifications:
        self.page.locator(f"input[name=row][value='{notification_id}']").check()
        return self

    def status_of(self, notification_id: UUID) -> str:
        row = self.page.locator("#result_list tr", has=self.page.locator(f"[title='{notification_id}']"))
        return str(row.locator(".nq-badge").inner_text())

    def ask_to(self, verb: str) -> ConfirmTicked:
        """Choose an act: what follows is a preview, nothing is done yet."""
        self.page.locator(".nq-acts").get_by_role("button", name=verb, exact=True).click()
        return ConfirmTicked(self.page)


class BulkPreview:
    """How many match, before anything is done."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator("section[aria-labelledby=preview]").wait_for()

    @property
    def counted(self) -> str:
        return str(self.page.locator(".nq-big").inner_text())

    def confirm(self, reason: str) -> BulkProgress:
        self.page.get_by_label("Reason, for the record").fill(reason)
        self.page.locator("section[aria-labelledby=confirm] button").click()
        return BulkProgress(self.page)


class BulkProgress:
    """What an act on many has come to; the page refreshes itself."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator("progress").wait_for()

    @property
    def text(self) -> str:
        return str(self.page.locator("section[aria-labelledby=progress]").inner_text())

    def wait_until_done(self) -> None:
        self.page.locator(".nq-badge", has_text="DONE").wait_for()


class WebhookEvents:
    """The list, and what can be done to what is ticked."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator("#changelist").wait_for()

    @classmethod
    def opened(cls, window: BrowserWindow, query: str = "?status=FAILED") -> WebhookEvents:
        return cls(window.go(WEBHOOK_EVENTS + query))

    @property
    def statuses(self) -> list[str]:
        shown: list[str] = self.page.locator("#result_list td.field-status_badge").all_inner_texts()
        return shown

    def tick(self, count: int) -> None:
        for box in self.page.locator("input[name=event]").all()[:count]:
            box.check()

    def ask_to_redeliver(self) -> ConfirmRedelivery:
        self.page.locator(".nq-ticked button").click()
        return ConfirmRedelivery(self.page)

    def ask_to_redeliver_what_matches(self) -> BulkPreview:
        self.page.locator("a.nq-bulk").click()
        return BulkPreview(self.page)


class ConfirmRedelivery:
    """Shows what was ticked, and asks for the reason."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator("form.nq-confirm").wait_for()

    def confirm(self, reason: str) -> list[str]:
        """Go on; returns what the page says came of it."""
        self.page.get_by_label("Reason, for the record").fill(reason)
        self.page.locator("form.nq-confirm input[type=submit]").click()
        WebhookEvents(self.page)
        said: list[str] = self.page.locator("ul.messagelist li").all_inner_texts()
        return said


class ConfirmTicked:
    """The preview of an act on what is ticked, which asks for the reason."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator("form.nq-confirm").wait_for()

    @property
    def previewed_count(self) -> int:
        return int(self.page.locator("form.nq-confirm tbody tr").count())

    @property
    def left(self) -> list[str]:
        """What is said of those that are left alone, with how many."""
        said: list[str] = self.page.locator(".nq-note li").all_inner_texts()
        return said

    def confirm(self, reason: str) -> list[str]:
        """Go on; returns what the list then says came of it."""
        self.page.bring_to_front()  # chromium is slow to draw what nobody sees
        self.page.get_by_label("Reason, for the record").fill(reason)
        self.page.locator("form.nq-confirm input[type=submit]").click()
        self.page.locator("ul.messagelist").wait_for()
        said: list[str] = self.page.locator("ul.messagelist li").all_inner_texts()
        return said


class StockList:
    """A list of the admin's own, with actions that ask first."""

    def __init__(self, window: BrowserWindow, path: str) -> None:
        self.page = window.go(path)

    def ask_to(self, action: str) -> None:
        """Tick everything and choose the action: what follows is a preview."""
        for box in self.page.locator("input[name=_selected_action]").all():
            box.check()
        self.page.locator("select[name=action]").select_option(label=action)
        self.page.get_by_role("button", name="Go", exact=True).click()
        self.page.locator("form.nq-confirm").wait_for()

    def confirm(self, reason: str) -> list[str]:
        """Go on; returns what the list then says came of it."""
        self.page.get_by_label("Reason, for the record").fill(reason)
        self.page.locator("form.nq-confirm input[type=submit]").click()
        self.page.locator("ul.messagelist").wait_for()
        said: list[str] = self.page.locator("ul.messagelist li").all_inner_texts()
        return said


class NotificationPage:
    def __init__(self, page: Any) -> None:
        self.page = page
        page.wait_for_url("**/change/")

    @classmethod
    def opened(cls, window: BrowserWindow, notification_id: UUID, page: Any = None) -> NotificationPage:
        return cls(window.go(notification(notification_id), page))

    def act(self, title: str, reason: str) -> list[str]:
        """Unfold one of the forms and send it; returns what the page says came of it."""
        self.page.bring_to_front()
        form = self.page.locator("details.nq-act", has=self.page.get_by_text(title, exact=True))
        form.locator("summary").click()
        form.get_by_label("Reason").fill(reason)
        form.get_by_role("button").click()
        self.page.locator("ul.messagelist").wait_for()
        said: list[str] = self.page.locator("ul.messagelist li").all_inner_texts()
        return said

    @property
    def text(self) -> str:
        return str(self.page.locator("#content").inner_text())

    @property
    def control_count(self) -> int:
        """How many things there are to press or to fill in."""
        controls = "#content button, #content input:not([type=hidden]), #content select, #content textarea"
        return int(self.page.locator(controls).count())
