"""Acts on the rows of a list that were ticked: shown first, asked for a reason, done one by one."""

from notifications.admin.ticked.listing import offer
from notifications.admin.ticked.origin import WORDINGS, Origin
from notifications.admin.ticked.page import page_for

__all__ = ["WORDINGS", "Origin", "offer", "page_for"]
