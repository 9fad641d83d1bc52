"""The console's pages of what ended undelivered: why, in groups; one by one; and the acts on them."""

from notifications.admin.dead_letters.listing import ORIGIN, show_list
from notifications.admin.dead_letters.overview import show_overview
from notifications.admin.ticked import page_for
from notifyq.console import Page, add_page

__all__ = ["SEE"]

SEE = "notifications.view_deadletter"

add_page(Page("dead-letters/", "dead-letters", show_overview, SEE))
add_page(Page("dead-letters/list/", "dead-letters-list", show_list, SEE))
add_page(page_for(ORIGIN))
