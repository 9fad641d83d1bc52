"""What those are shown who may look at the queue but not into it: enough to tell things apart, nothing of a person."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest

from notifyq.console.words import masked
from notifyq.roles import SEE_PRIVATE

HIDDEN = "hidden: it is private"
Shown = str | Callable[[Any], Any]
_SEPARATORS = r"[ \t\u00a0\u202f.()/\u2010-\u2015-]{0,3}"
_NO_NUMBER = (
    r"\d{4}-\d\d-\d\d(?!\d)"  # a date
    r"|\d\d\.\d{3,6}(?!\d)"  # seconds and their fractions
    r"|(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"  # an IP address
    r"|[245]\d\d[ -][245]\.\d{1,3}\.\d{1,3}(?!\d)"  # the codes of an answer by SMTP
)
_ADDRESS = re.compile(
    r"""(?:"[^"\n]{1,64}"|[^\s<>"'(),:;=@\[\]]+)(?:@|%40)(?:\[[^\]\s]+\]|[\w-]+(?:\.[\w-]+)*)"""
    r"""|\b(?:fcm|apns):[^\s<>"',;…]+"""
    rf"""|(?<![\w+.-])(?!{_NO_NUMBER})[+(]{{0,2}}\d(?:{_SEPARATORS}\d){{6,16}}(?![\w-])"""
)
"""Mail addresses, tokens of devices and phone numbers, as vendors and people write them; rather one too many."""


def shortened(label: str) -> str:
    """A label that a client chose, such as an idempotency key: its beginning and end."""
    return f"{label[:2]}…{label[-2:]}" if len(label) > 8 else "…"


def scrubbed(text: str, *private: str) -> str:
    """Words of a vendor or of a person, with every address in them masked.

    Args:
        private: what must not be seen in it in any case.
    """
    for secret in filter(None, private):
        text = text.replace(secret, masked(secret))
    return _ADDRESS.sub(lambda found: masked(found[0].replace("%40", "@")), text)


def hides(field: str) -> Callable[[Any], str]:
    """A column or field that is not shown at all."""
    return _named(field, lambda value: HIDDEN if value else "-")


def scrubs(field: str) -> Callable[[Any], str]:
    """A column or field of words, shown scrubbed."""
    return _named(field, lambda value: scrubbed(_text(value)) or "-")


def shortens(field: str) -> Callable[[Any], str]:
    """A column or field with a label that a client chose."""
    return _named(field, lambda value: shortened(str(value)) if value else "-")


class Masks:
    """For the admin of a list, and for an inline.

    Attributes:
        masks: what stands in the place of a field for those who may not see what is private.
    """

    masks: ClassVar[Mapping[str, Shown]] = {}

    def get_list_display(self, request: HttpRequest) -> Any:
        return self._shown(request, super().get_list_display(request))  # type: ignore[misc]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self._shown(request, super().get_fields(request, obj))  # type: ignore[misc]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self._shown(request, super().get_readonly_fields(request, obj))  # type: ignore[misc]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        found = super().get_fieldsets(request, obj)  # type: ignore[misc]
        return [(name, options | {"fields": self._shown(request, options["fields"])}) for name, options in found]

    def get_search_fields(self, request: HttpRequest) -> Any:
        """Not what is masked: whoever may look for parts of it finds all of it out."""
        fields = super().get_search_fields(request)  # type: ignore[misc]
        hidden: Any = () if request.user.has_perm(SEE_PRIVATE) else self.masks
        return tuple(field for field in fields if field.partition("__")[0] not in hidden)

    def _shown(self, request: HttpRequest, fields: Sequence[Any]) -> tuple[Any, ...]:
        masks = {} if request.user.has_perm(SEE_PRIVATE) else self.masks
        return tuple(masks.get(field, field) if isinstance(field, str) else field for field in fields)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _named(field: str, shown: Callable[[Any], str]) -> Callable[[Any], str]:
    @admin.display(description=field.replace("_", " "))
    def column(row: Any) -> str:
        return shown(getattr(row, field))

    column.__name__ = f"{field}_for_viewers"
    return column
