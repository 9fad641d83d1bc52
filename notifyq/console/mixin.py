"""What a class is built on that completes the admin of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    AdminMixin = ModelAdmin[Any]
    """Stands before a `ModelAdmin` among the bases: for types it is one, as it may call it."""
else:
    AdminMixin = object
