"""For the console's templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from django.forms import BaseForm
from django.template import Context, Library
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from notifyq import console

register = Library()
register.filter("instant", console.instant)
register.simple_tag(console.badge, name="badge")


@register.simple_tag
def brief(at: datetime, *, with_day: bool = False) -> SafeString:
    """An instant on an axis, to the minute: UTC as it leaves here, in the reader's zone by console.js."""
    utc = at.astimezone(UTC)
    return format_html(
        '<time class="nq-time" datetime="{}" data-brief="{}" title="{} UTC">{} UTC</time>',
        *(utc.isoformat(), "day" if with_day else "minute", utc.strftime("%Y-%m-%d %H:%M")),
        utc.strftime("%m-%d %H:%M" if with_day else "%H:%M"),
    )


@register.simple_tag(takes_context=True)
def marked(context: Context, field: str) -> SafeString | str:
    """The attributes of an input that is wrong. The first such has the focus, so the browser scrolls to it.

    Args:
        context: `errors` holds a sentence for each wrong field, by its name.
    """
    errors = _errors(context)
    if field not in errors:
        return ""
    focus = " autofocus" if field == next(filter(None, errors)) else ""
    return format_html(' aria-invalid="true" aria-describedby="error_{}"{}', field, focus)


@register.simple_tag(takes_context=True)
def told(context: Context, field: str) -> SafeString | str:
    """What is wrong with an input, to stand below it."""
    text = _errors(context).get(field)
    return format_html('<span class="nq-error" id="error_{}">{}</span>', field, text) if text else ""


def _errors(context: Context) -> Mapping[str, str]:
    return context.get("errors") or {}


@register.simple_tag
def errors_of(form: BaseForm) -> dict[str, str]:
    """What is wrong with the fields of a form, a sentence for each by its name. The first of them gets the focus."""
    wrong = [field for field in form.visible_fields() if field.errors]
    if wrong:
        wrong[0].field.widget.attrs["autofocus"] = True
    told = {field.name: f"{field.label}: {' '.join(map(str, field.errors))}" for field in wrong}
    return told | ({"": "Please use the form on the page."} if any(f.errors for f in form.hidden_fields()) else {})


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
def scrubbed_unless(text: str, sees_private: bool) -> str:
    """Words of a vendor or of a person: with the addresses in them for those who may see them."""
    return text if sees_private or not text else console.scrubbed(str(text))


@register.filter
def shortened_unless(label: str, sees_private: bool) -> str:
    """A label that a client chose."""
    return label if sees_private or not label else console.shortened(str(label))


@register.filter
def unlocalized(number: float) -> str:
    """A number as SVG wants it, whatever the language."""
    return f"{number:g}"


@register.filter
def words(name: str) -> str:
    """`DEAD_LETTERED` as one says it: `dead lettered`."""
    return str(name).lower().replace("_", " ")


@register.filter
def said(parts: Iterable[str | datetime | timedelta]) -> SafeString:
    """A sentence with instants and durations in it."""
    return format_html_join("", "{}", ((_shown(part),) for part in parts))


def _shown(part: str | datetime | timedelta) -> str:
    if isinstance(part, datetime):
        return console.instant(part)
    return age(part.total_seconds()) if isinstance(part, timedelta) else part
