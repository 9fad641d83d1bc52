"""From JSON bodies to the arguments of the services."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from rest_framework.request import Request

from notifications import services
from notifications.api.body import unknown_fields
from notifications.api.names import GROUP_FIELDS, REQUEST_FIELDS, camel_errors, snake
from notifications.errors import InvalidRequest
from notifyq.rest.problem import field_error, invalid

KEY_HEADER = "Idempotency-Key"
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"')


def header_key(request: Request) -> str | None:
    """The key in the header, with its quotes taken off; None when there is no such header."""
    sent = request.headers.get(KEY_HEADER)
    if sent is None:
        return None
    with contextlib.suppress(UnicodeError):
        # WSGI hands headers over as Latin-1; a key in UTF-8 has to equal the same key in a body.
        sent = sent.encode("latin-1").decode("utf-8")
    quoted = _QUOTED.fullmatch(sent)
    return re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else sent


def read_request(body: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """The arguments of `services.submit` (without the client) from a JSON object and the header's key.

    Raises:
        Problem: 400; an unknown field is told together with all else that is wrong.
    """
    return _read(body, key, REQUEST_FIELDS, services.check_request)


def read_group_request(body: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """The same for `services.submit_group`."""
    return _read(body, key, (*REQUEST_FIELDS, *GROUP_FIELDS), services.check_group_request)


def _read(
    body: Mapping[str, Any],
    key: str | None,
    names: tuple[str, ...],
    check: Callable[[Mapping[str, object]], object],
) -> dict[str, Any]:
    values = {snake(name): body.get(name) for name in names}
    errors = unknown_fields(body, names)
    if key is not None:
        if values["idempotency_key"] not in (None, key):
            errors.append(field_error("idempotencyKey", "conflict", f"must not differ from the {KEY_HEADER} header"))
        values["idempotency_key"] = key
    if errors:
        raise invalid(errors + _all_else(values, check))
    return values


def _all_else(values: Mapping[str, Any], check: Callable[[Mapping[str, object]], object]) -> list[dict[str, str]]:
    try:
        check(values)
    except InvalidRequest as found:
        return camel_errors(found.errors)
    return []
