"""Numbers that people write in settings and on command lines."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable


def whole(text: str) -> int:
    """The whole number that is written in the digits 0 to 9, with a sign or without one.

    Raises:
        ValueError: anything else, such as other scripts' digits or 1_000, both of which Python itself would take.
    """
    return int(_plain(text))


def number(text: str) -> float:
    """The number, perhaps with a fraction or an exponent; it need not be finite.

    Raises:
        ValueError: as of `whole`.
    """
    return float(_plain(text))


def between(least: int, most: int, what: str = "a whole number") -> Callable[[str], int]:
    """The reader of such an argument, for argparse."""

    def read(text: str) -> int:
        try:
            value = whole(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ArgumentTypeError(f"must be {what} from {least} to {most}")
        return value

    return read


def _plain(text: str) -> str:
    if not text.isascii() or "_" in text:
        raise ValueError("not in plain digits")
    return text
