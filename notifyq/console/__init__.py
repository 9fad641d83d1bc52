"""The operators' console: Django's admin with pages of its own. What its pages share; each app brings its pages.

Stock admin rather than a theme package: the console's pages are our own anyway, and the themes need scripts in the
page, which the content security policy forbids.
"""

from notifyq.console.asking import AskedForm, asks_first, reason_field, tell
from notifyq.console.by_id import SearchedById, as_uuid
from notifyq.console.lists import EstimatingPaginator, GuardedAdmin, ReadOnlyAdmin, ReadOnlyInline
from notifyq.console.mixin import AdminMixin
from notifyq.console.own_page import OwnPage
from notifyq.console.pages import Link, Page, add_link, add_page
from notifyq.console.privacy import HIDDEN, hides, scrubbed, scrubs, shortened, shortens
from notifyq.console.words import badge, instant, masked

__all__ = [
    "HIDDEN",
    "AdminMixin",
    "AskedForm",
    "EstimatingPaginator",
    "GuardedAdmin",
    "Link",
    "OwnPage",
    "Page",
    "ReadOnlyAdmin",
    "ReadOnlyInline",
    "SearchedById",
    "add_link",
    "add_page",
    "as_uuid",
    "asks_first",
    "badge",
    "hides",
    "instant",
    "masked",
    "reason_field",
    "scrubbed",
    "scrubs",
    "shortened",
    "shortens",
    "tell",
]
