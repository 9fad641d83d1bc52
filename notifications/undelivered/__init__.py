"""Reading what ended undelivered: why, in groups, and one by one. Each look is bounded, however big the table is."""

from notifications.undelivered.groups import GROUPED_MOST, Group, Summary, summarize
from notifications.undelivered.pages import SHOWN, WALKED_MOST, Page, page_of
from notifications.undelivered.place import Place
from notifications.undelivered.wanted import NONE, UNDELIVERED, Kind, Wanted

__all__ = [
    "GROUPED_MOST",
    "NONE",
    "SHOWN",
    "UNDELIVERED",
    "WALKED_MOST",
    "Group",
    "Kind",
    "Page",
    "Place",
    "Summary",
    "Wanted",
    "page_of",
    "summarize",
]
