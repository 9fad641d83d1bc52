"""For the console's templates."""

from __future__ import annotations

from django.template import Library

from notifyq import console

register = Library()
register.filter("instant", console.instant)
register.simple_tag(console.badge, name="badge")


@register.filter
def age(seconds: float | None) -> str:
    """A duration as one reads it: `0.3 s`, `12 s`, `5 min`, `3 h`, `2 d`; a dash for none."""
    if seconds is None:
        return "-"
    seconds = max(0.0, seconds)
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds >= 0.05 else f"{seconds * 1000:.0f} ms"
    for limit, size, unit in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:.0f} d"


@register.filter
def unlocalized(number: float) -> str:
    """A number as SVG wants it, whatever the language."""
    return f"{number:g}"


@register.filter
def words(name: str) -> str:
    """`DEAD_LETTERED` as one says it: `dead lettered`."""
    return str(name).lower().replace("_", " ")
