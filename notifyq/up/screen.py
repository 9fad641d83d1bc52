"""What `up` shows in the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from django.core.management.base import OutputWrapper
from django.core.management.color import Style


class Screen:
    """Lines of progress. A terminal that was closed meanwhile is no reason to fail."""

    def __init__(self, stream: OutputWrapper, style: Style) -> None:
        self._stream = stream
        self._style: Any = style
        plain = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "") != "utf8"
        self._done, self._failed, self._dot = ("ok", "!!", "-") if plain else ("✓", "✗", "·")

    def title(self, text: str) -> None:
        self.line()
        self.line(f"  {self._style.MIGRATE_HEADING(text)}")

    def done(self, what: str, detail: str) -> None:
        self.line(f"  {self._style.SUCCESS(self._done)} {what:<18} {detail}")

    def trouble(self, text: str) -> None:
        self.line(f"  {self._style.ERROR(self._failed)} {text}")

    def row(self, what: str, detail: str) -> None:
        self.line(f"    {what:<18} {detail}")

    def steps(self, what: str, steps: Sequence[str]) -> None:
        self.row(what, f" {self._dot} ".join(steps))

    def line(self, text: str = "") -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(f"{text}\n")
            self._stream.flush()
