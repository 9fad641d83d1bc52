"""What is wrong with a form, in words of the page instead of those of the API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from notifications.errors import FieldError

_MESSAGES = dict.fromkeys(("not_a_time", "no_offset"), "must be a date and a time that exist, such as 2030-01-31 08:00")


def sentences(errors: Iterable[FieldError], subjects: Mapping[str, str]) -> dict[str, str]:
    """What is wrong, a sentence by the name of each field.

    Args:
        subjects: what a sentence calls each field, by its name, in the order of the page.
    """
    found = {error.field: sentence(error, subjects) for error in errors}
    return {name: found[name] for name in [*subjects, *found] if name in found}


def sentence(error: FieldError, subjects: Mapping[str, str]) -> str:
    """One thing wrong."""
    if (error.field, error.code) == ("reason", "required"):
        return "Please give a reason."
    subject = subjects.get(error.field, f"“{error.field.replace('_', ' ').capitalize()}”")
    return f"{subject} {_MESSAGES.get(error.code, error.message)}."
