"""The console's pages of what ended undelivered: why, in groups; one by one; and the acts on them."""

from notifications.admin.dead_letters.acts import act
from notifications.admin.dead_letters.listing import show_list
from notifications.admin.dead_letters.overview import show_overview
from notifyq.console import Page, add_page
from notifyq.roles import OPERATE

__all__ = ["SEE"]

SEE = "notifications.view_deadletter"

add_page(Page("dead-letters/", "dead-letters", show_overview, SEE))
add_page(Page("dead-letters/list/", "dead-letters-list", show_list, SEE))
add_page(Page("dead-letters/act/", "dead-letters-act", act, OPERATE, ("GET", "HEAD", "POST")))
