"""Reading single values out of a request and noting what is wrong with them.

Each reader returns the value, or None when it is absent (missing or null) or wrong; what is wrong stands in `errors`,
so that one answer can name every field.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from enum import Enum

from notifications.errors import FieldError

LABEL_MAX_LENGTH = 255
_LINE_BREAKING = frozenset({"Cc", "Zl", "Zp"})


class Invalid(ValueError):
    """What is wrong with one value: a code and a sentence that does not repeat the value."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


class Fields:
    """The raw values of one request by snake-case name, and the errors found so far."""

    def __init__(self, raw: Mapping[str, object]) -> None:
        self._raw = raw
        self.errors: list[FieldError] = []

    def raw(self, name: str) -> object:
        return self._raw.get(name)

    def given(self, name: str) -> bool:
        """Whether there is a value; null means absent."""
        return self._raw.get(name) is not None

    def wrong(self, name: str, code: str, message: str) -> None:
        self.errors.append(FieldError(name, code, message))

    def has_error(self, *names: str) -> bool:
        return any(e.field in names for e in self.errors)

    def text(
        self,
        name: str,
        *,
        max_length: int | None = None,
        max_bytes: int | None = None,
        required: bool = False,
        one_line: bool = False,
    ) -> str | None:
        """A string that PostgreSQL can store; an empty one counts as absent."""
        value = self.raw(name)
        if value is None or value == "":
            if required:
                self.wrong(name, "required", "is required")
            return None
        try:
            text = storable(value)
            within(text, max_length=max_length, max_bytes=max_bytes)
            return single_line(text) if one_line else text
        except Invalid as problem:
            self.wrong(name, problem.code, problem.message)
            return None

    def number(self, name: str, *, least: float, most: float, above_least: bool = False) -> float | None:
        """A finite number, whole or fractional."""
        value = self.raw(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(name, "not_a_number", "must be a number")
            return None
        low = f"more than {least:g}" if above_least else f"at least {least:g}"
        # Compared before it is converted: an integer of a thousand digits does not fit into a float.
        finite = isinstance(value, int) or math.isfinite(value)
        if not finite or value > most or value < least or (above_least and value == least):
            self.wrong(name, "out_of_range", f"must be {low} and at most {most:.15g}")
            return None
        return float(value)

    def whole(self, name: str, *, least: int, most: int) -> int | None:
        value = self.number(name, least=least, most=most)
        if value is not None and not value.is_integer():
            self.wrong(name, "not_a_whole_number", "must be a whole number")
            return None
        return None if value is None else int(value)

    def flag(self, name: str) -> bool:
        """True or false; false when it is absent."""
        value = self.raw(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.wrong(name, "not_a_boolean", "must be true or false")
        return False

    def option(self, name: str, options: Iterable[str], *, required: bool = False) -> str | None:
        """One of the names; a member of an enumeration stands for its name."""
        value = self.raw(name)
        if value is None:
            if required:
                self.wrong(name, "required", "is required")
            return None
        label = value.name if isinstance(value, Enum) else value
        known = tuple(options)
        if label not in known:
            self.wrong(name, "not_an_option", f"must be one of {', '.join(known)}")
            return None
        return str(label)

    def pairs(self, name: str) -> dict[str, str] | None:
        """A flat object with string values."""
        value = self.raw(name)
        if value is None:
            return None
        try:
            return flat_pairs(value)
        except Invalid as problem:
            self.wrong(name, problem.code, problem.message)
            return None


def storable(value: object) -> str:
    """The value as text that can be encoded and stored.

    Raises:
        Invalid: not a string, or one with a NUL or a lone surrogate.
    """
    if not isinstance(value, str):
        raise Invalid("not_a_string", "must be a string")
    if "\x00" in value:
        raise Invalid("nul_character", "must not contain the NUL character")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Invalid("lone_surrogate", "must not contain half of a surrogate pair") from None
    return str(value)


def within(text: str, *, max_length: int | None = None, max_bytes: int | None = None) -> None:
    """Raises `Invalid` when the text is longer than allowed, in characters or in bytes of UTF-8."""
    if max_length is not None and len(text) > max_length:
        raise Invalid("too_long", f"must be at most {max_length} characters long, not {len(text)}")
    if max_bytes is not None and (size := len(text.encode())) > max_bytes:
        raise Invalid("too_long", f"must be at most {max_bytes} bytes of UTF-8, not {size}")


def single_line(text: str) -> str:
    """Raises `Invalid` when the text could end a mail header.

    U+2028, U+2029 and U+0085 count: Python's own mail package breaks lines there and would refuse the message later,
    in a worker.
    """
    if any(unicodedata.category(c) in _LINE_BREAKING for c in text):
        raise Invalid("control_character", "must not contain line breaks or other control characters")
    return text


def flat_pairs(value: object) -> dict[str, str]:
    """Raises `Invalid` unless the value is a mapping of non-empty strings to strings."""
    if not isinstance(value, Mapping):
        raise Invalid("not_an_object", "must be an object with string values")
    pairs: dict[str, str] = {}
    for key, item in value.items():
        if not isinstance(item, str) or not isinstance(key, str):
            raise Invalid("not_flat", "must be flat: every value must be a string")
        if not key:
            raise Invalid("empty_name", "must not contain an empty name")
        pairs[storable(key)] = storable(item)
    return pairs
