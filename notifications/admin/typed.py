"""What was typed into a form whose act was refused: it stands there again, once, where the answer leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.http import HttpRequest

from notifications.story.acts import Field, Form

_KEPT = "console_typed"
_LENGTH_MOST = 500
_NOT_TYPED = ("csrfmiddlewaretoken", "seen")


def keep(request: HttpRequest, page: str, form_name: str) -> None:
    """Keep what was posted until that page is shown.

    Args:
        page: its path.
        form_name: of the form that it came from.
    """
    values = {name: str(text)[:_LENGTH_MOST] for name, text in request.POST.items() if name not in _NOT_TYPED}
    request.session[_KEPT] = {"page": page, "form": form_name, "values": values}


def put_back(request: HttpRequest, forms: Sequence[Form]) -> list[Form]:
    """The forms of a page, the refused one open and with its texts; the next time it is empty again."""
    kept = request.session.get(_KEPT)
    if not kept or kept["page"] != request.path:
        return list(forms)
    del request.session[_KEPT]
    return [_filled(form, kept["values"]) if form.name == kept["form"] else form for form in forms]


def _filled(form: Form, values: dict[str, str]) -> Form:
    fields = tuple(replace(field, value=_shown(field, values.get(field.name, ""))) for field in form.fields)
    return replace(form, fields=fields, is_open=True)


def _shown(field: Field, text: str) -> str:
    # A picker takes no zone; what console.js sends is UTC, which is also how it reads what stands there.
    return text.removesuffix("Z") if field.kind == "datetime-local" else text
