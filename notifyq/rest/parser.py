"""A JSON parser that takes nothing for granted: whatever is not exactly JSON is a 400 that says what and where."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from notifyq.rest.body_length import drain, hurry
from notifyq.rest.problem import Problem, field_error, too_long

BODY_MAX_BYTES = 1 << 20
"""A view with larger bodies says so by its `body_max_bytes`."""

DEPTH_MAX = 32
_INTEGER_MAX_DIGITS = 400  # more than any float has; beyond it Python's own conversion becomes slow, then refuses


class _NotJson:
    """Stands for NaN or an infinity until it is known which field holds it."""


class StrictJsonParser(BaseParser):
    """Reads one JSON object of bounded size. Repeated names, NaN, NUL and lone surrogates are refused."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        context = parser_context or {}
        view = context.get("view")
        most = getattr(view, "body_max_bytes", BODY_MAX_BYTES)
        return loads(_read(stream, most), unchecked=getattr(view, "unchecked_fields", frozenset()))


def loads(raw: bytes, *, unchecked: Collection[str] = ()) -> dict[str, Any]:
    """The object in the text.

    Args:
        unchecked: fields that the caller hands to `check_fields` itself, part by part.

    Raises:
        Problem: 400, with the top-level field that holds the fault where there is one.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise _malformed("The body is not valid UTF-8.") from None
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=lambda _: _NotJson(), parse_int=_integer)
    except RecursionError:
        raise _malformed("The body is nested too deeply.") from None
    except json.JSONDecodeError as problem:
        place = f"line {problem.lineno}, column {problem.colno}"
        raise _malformed(f"The body is not valid JSON: {problem.msg} at {place}.") from None
    if not isinstance(value, dict):
        raise _malformed("The body must be a JSON object.")
    check_fields({name: item for name, item in value.items() if name not in unchecked})
    return value


def check_fields(value: Mapping[str, object]) -> None:
    """Raises `Problem` (400) when a name or value in it is something that JSON or PostgreSQL cannot hold."""
    for field, item in value.items():
        _check(field, item)


def refuse_long_body(request: Request, most: int) -> None:
    """Raises `Problem` (413) when the stated length is more than `most`, whoever is to parse it."""
    stated = request.META.get("CONTENT_LENGTH") or "0"
    if stated.isascii() and stated.isdigit() and int(stated) > most:
        hurry(request._request)
        drain(request.stream)
        raise too_long(most)


def _read(stream: IO[bytes], most: int) -> bytes:
    """At most `most` bytes, whatever the Content-Length says."""
    raw = stream.read(most + 1)
    if len(raw) <= most:
        return raw
    drain(stream)
    raise too_long(most)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _malformed("The body names something twice.", _printable(twice), "duplicate", "must stand only once")
    return found


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _INTEGER_MAX_DIGITS else float(digits)


def _check(field: str, item: object) -> None:
    """Look for what JSON or PostgreSQL cannot hold, in the field's name and anywhere below it."""
    name = _printable(field)
    if name != field:
        raise _malformed("A field's name cannot be stored.", name, "not_text", "must be named in plain characters")
    for value in _walk(name, item):
        if isinstance(value, _NotJson):
            raise _malformed("The body is not valid JSON.", name, "not_a_number", "must not be NaN or infinite")
        if isinstance(value, str) and (code := _unstorable(value)):
            raise _malformed("The body holds characters that cannot be stored.", name, code, _WHY[code])


def _walk(field: str, item: object) -> Iterator[object]:
    """Every name and value at and below the item."""
    level = [item]
    for _ in range(DEPTH_MAX):
        deeper: list[object] = []
        for value in level:
            yield value
            if isinstance(value, dict):
                deeper += [*value.keys(), *value.values()]
            elif isinstance(value, list):
                deeper += value
        if not deeper:
            return
        level = deeper
    raise _malformed("The body is nested too deeply.", field, "too_deep", "must not be nested so deeply")


_WHY = {
    "nul_character": "must not contain the NUL character",
    "lone_surrogate": "must not contain half of a surrogate pair",
}


def _unstorable(text: str) -> str | None:
    if "\x00" in text:
        return "nul_character"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "lone_surrogate"
    return None


def _printable(name: str) -> str:
    """A field's name as it can stand in an answer."""
    return name[:100].encode("utf-8", "replace").decode().replace("\x00", "?")


def _malformed(detail: str, field: str | None = None, code: str = "", message: str = "") -> Problem:
    errors = [] if field is None else [field_error(field, code, message)]
    return Problem(400, "malformed-json", detail, errors=errors)
