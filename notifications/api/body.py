"""The bodies of calls that take few fields, or none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast
from uuid import UUID

from django.http import QueryDict
from rest_framework.parsers import BaseParser, FormParser, MultiPartParser
from rest_framework.request import Request

from notifications.api.names import snake
from notifyq.rest.parser import StrictJsonParser
from notifyq.rest.problem import Problem, field_error, invalid

OPTIONAL_BODY: list[type[BaseParser]] = [StrictJsonParser, FormParser, MultiPartParser]
"""For calls without a required field: many programs send an empty form along when they have nothing to say."""
UNKNOWN_SHOWN_MOST = 20


def read_body(request: Request, names: Iterable[str]) -> dict[str, Any]:
    """The values of the fields called `names`, by snake-case name; None where one is absent.

    Raises:
        Problem: 400, naming fields that are none of them; 415 for a form that says something.
    """
    body = cast("Mapping[str, Any]", request.data)
    known = tuple(names)
    if errors := unknown_fields(body, known):
        raise invalid(errors)
    if body and isinstance(body, QueryDict):
        raise Problem(415, "unsupported-media-type", "The body must be application/json.")
    return {snake(name): body.get(name) for name in known}


def unknown_fields(body: Iterable[str], known: Iterable[str]) -> list[dict[str, str]]:
    """What is wrong with names that are not known; the first twenty."""
    names = [name for name in body if name not in set(known)]
    return [field_error(name[:100], "unknown", "is not a field of a request") for name in names[:UNKNOWN_SHOWN_MOST]]


def read_uuid(name: str, value: object) -> UUID | None:
    """The id in that field; None when it is absent.

    Raises:
        Problem: 400, it is none.
    """
    if value is None:
        return None
    try:
        return UUID(value if isinstance(value, str) else "")
    except ValueError:
        raise invalid([field_error(name, "not_a_uuid", "must be a UUID")]) from None
