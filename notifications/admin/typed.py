"""What was typed into a form whose act was refused: it stands there again, once, where the answer leads to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join, strip_tags

from notifications.story.acts import Field, Form

_KEPT = "console_typed"
_LENGTH_MOST = 500
_NOT_TYPED = ("csrfmiddlewaretoken", "seen")


def refuse(request: HttpRequest, page: str, form_name: str, faults: Mapping[str, str]) -> None:
    """Say that nothing was done and why, with links to the fields, and keep what was posted until that page is shown.

    Args:
        page: its path.
        form_name: of the form that it came from.
        faults: sentences by the name of the field that each is about; by no name, about none.
    """
    told = format_html_join(" ", "{}", ((_linked(form_name, field, text),) for field, text in faults.items()))
    messages.warning(request, format_html("Nothing was done. {}", told))
    values = {name: str(text)[:_LENGTH_MOST] for name, text in request.POST.items() if name not in _NOT_TYPED}
    wrong = {field: strip_tags(text) for field, text in faults.items() if field}  # the session keeps no markup
    request.session[_KEPT] = {"page": page, "form": form_name, "values": values, "wrong": wrong}


def _linked(form_name: str, field: str, text: str) -> str:
    return format_html('<a href="#{}-{}">{}</a>', form_name, field, text) if field else text


def put_back(request: HttpRequest, forms: Sequence[Form]) -> list[Form]:
    """The forms of a page, the refused one open and with its texts; the next time it is empty again."""
    kept = request.session.get(_KEPT)
    if not kept or kept["page"] != request.path:
        return list(forms)
    del request.session[_KEPT]
    return [
        _filled(form, kept["values"], kept.get("wrong", {})) if form.name == kept["form"] else form for form in forms
    ]


def _filled(form: Form, values: dict[str, str], wrong: dict[str, str]) -> Form:
    typed = (replace(field, value=_shown(field, values.get(field.name, ""))) for field in form.fields)
    fields = marked(typed, wrong)
    return replace(form, fields=fields, is_open=True)


def marked(fields: Iterable[Field], wrong: Mapping[str, str]) -> tuple[Field, ...]:
    """The fields with what is wrong with them, the first such with the focus."""
    first = next(iter(wrong), None)
    return tuple(replace(f, error=wrong.get(f.name, ""), has_focus=f.name == first) for f in fields)


def _shown(field: Field, text: str) -> str:
    # A picker takes no zone; what console.js sends is UTC, which is also how it reads what stands there.
    return text.removesuffix("Z") if field.kind == "datetime-local" else text
