"""The form that a list of the undelivered is narrowed down with, and what it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.utils.dateparse import parse_datetime

from notifications import selectors
from notifications.admin.search import find_ids, labelled
from notifications.channel import Channel
from notifications.models import Client
from notifications.outcome import UNCONFIRMED
from notifications.providers.instance_names import NAME_LENGTH_MOST
from notifications.request import canonical_filter
from notifications.request.fields import LABEL_MAX_LENGTH, Invalid
from notifications.story.acts import Deed
from notifications.undelivered import NONE, Kind, Wanted
from notifyq.console import instant, masked
from notifyq.console.sealed import PRIVATE, UNREADABLE, Unopened, opened, seal
from notifyq.runtime.instants import NoSuchTime, utc

RECIPIENT_MAX_LENGTH = 1024
CODE_MAX_LENGTH = 64
LABELLED_MOST = 5_000
"""How many of one recipient or reference are looked through, the newest."""
KINDS = {
    Kind.DEAD: "dead letters",
    Kind.HELD: "held as unconfirmed",
    Kind.FAILED: "failed for good",
    Kind.ALL: "all undelivered",
}


class InstantInput(forms.DateTimeInput):
    """The browser's own picker, to the second; it knows no zones, so what it holds is UTC. console.js
    shows the reader's zone in it, and sends UTC."""

    input_type = "datetime-local"

    def __init__(self) -> None:
        super().__init__(attrs={"step": 1, "autocomplete": "off"})

    def format_value(self, value: Any) -> str | None:
        at = value if isinstance(value, datetime) else _instant(str(value or ""))
        return _shown(at) if at else None


class InstantField(forms.DateTimeField):
    """One that cannot be told in UTC is no time."""

    widget = InstantInput

    def clean(self, value: Any) -> datetime | None:
        try:
            at = super().clean(value)
            return utc(at) if at else None
        except NoSuchTime:
            raise forms.ValidationError("There is no such time.") from None


class FilterForm(forms.Form):
    """Every field may be left empty. One that cannot be read narrows nothing down: the list stays empty instead."""

    kind = forms.ChoiceField(choices=list(KINDS.items()), required=False)
    channel = forms.ChoiceField(choices=[("", "any"), *((c.value, c.value) for c in Channel)], required=False)
    provider = forms.CharField(max_length=NAME_LENGTH_MOST, required=False)
    error_code = forms.CharField(max_length=CODE_MAX_LENGTH, required=False)
    client = forms.ModelChoiceField(Client.objects.all(), required=False, empty_label="any", label="Client")
    recipient = forms.CharField(max_length=RECIPIENT_MAX_LENGTH, required=False)
    reference = forms.CharField(max_length=LABEL_MAX_LENGTH, required=False)
    after = InstantField(required=False, label="Ended from (UTC)")
    before = InstantField(required=False, label="Ended before (UTC)")
    q = forms.CharField(max_length=RECIPIENT_MAX_LENGTH, required=False, label="Search")

    def clean_recipient(self) -> str:
        try:
            return canonical_filter(self.cleaned_data["recipient"]) if self.cleaned_data["recipient"] else ""
        except Invalid as problem:
            raise forms.ValidationError(problem.message) from None

    def clean_kind(self) -> Kind:
        return Kind(self.cleaned_data["kind"] or Kind.DEAD)


@dataclass(frozen=True, slots=True)
class Filter:
    """What was asked for.

    Attributes:
        given: as the address has it, with what is private in it sealed.
        wanted: None when some of it could not be read.
        is_cut: there are more of the recipient, or with the reference, than were looked through.
        sees_private: the person who asks may see whom it names.
    """

    form: FilterForm
    given: Mapping[str, str]
    wanted: Wanted | None
    is_cut: bool = False
    sees_private: bool = True

    @property
    def kind(self) -> Kind:
        return self.wanted.kind if self.wanted else Kind.DEAD

    @property
    def is_narrow(self) -> bool:
        """Anything but a kind was asked for."""
        return any(self.form.data.get(name) for name in self.form.fields if name != "kind")

    @property
    def parts(self) -> list[tuple[str, str, str]]:
        """What is asked for beside the kind: (label, text, the filter without it)."""
        return [
            (str(field.label).removesuffix(" (UTC)"), self._text(field), self.query(**{field.name: ""}))
            for field in self.form
            if field.name != "kind" and field.value()
        ]

    @property
    def fields(self) -> list[forms.BoundField]:
        """Those that the form shows. The search has a form of its own, and what may not be seen goes along hidden."""
        return [field for field in self.form if field.name not in dict(self.carried) and field.name != "q"]

    @property
    def carried(self) -> list[tuple[str, str]]:
        """What the form carries on, sealed: (name, text)."""
        hidden = ("q",) if self.sees_private else PRIVATE
        return [(name, seal(self.given[name])) for name in hidden if self.given.get(name)]

    @property
    def sealed_query(self) -> str:
        """What was searched for, for an address."""
        return seal(self.given.get("q", ""))

    @property
    def shown_query(self) -> str:
        """What was searched for, for the box; empty for those who may not see whom it may name."""
        return str(self.form.data.get("q", "")) if self.sees_private else ""

    def _text(self, field: forms.BoundField) -> str:
        if field.name in PRIVATE and not self.sees_private:
            return masked(str(field.value()))
        read = getattr(self.form, "cleaned_data", {}).get(field.name) or field.value()
        return instant(read) if isinstance(read, datetime) else str(read)

    def query(self, **changes: str) -> str:
        """The same filter in an address, with some of it changed."""
        given = {name: self.given.get(name, "") for name in self.form.fields} | changes
        return urlencode({n: seal(text) if n in PRIVATE else text for n, text in given.items() if text})


def read_filter(data: Mapping[str, str], *, sees_private: bool = True) -> Filter:
    """What an address asks for. Looks up the ids of what was searched for."""
    form = _form_of(data)
    if not form.is_valid():
        return Filter(form, data, None, sees_private=sees_private)
    asked = form.cleaned_data
    client_id = asked["client"].pk if asked["client"] else None
    ids, is_cut = _ids(asked, client_id)
    wanted = Wanted(
        kind=asked["kind"],
        channel=asked["channel"] or None,
        provider=asked["provider"] or None,
        error_code=asked["error_code"] or None,
        client_id=client_id,
        after=asked["after"],
        before=asked["before"],
        ids=ids,
    )
    return Filter(form, data, wanted, is_cut, sees_private)


def _form_of(data: Mapping[str, str]) -> FilterForm:
    """With what is sealed opened; what cannot be opened is an error of its field."""
    plain, broken = dict(data), []
    for name in PRIVATE:
        try:
            plain[name] = opened(data.get(name, ""))
        except Unopened:
            plain[name] = ""
            broken.append(name)
    form = FilterForm(plain)
    for name in broken:
        form.add_error(name, f"This {UNREADABLE}")
    return form


def bulk_query(asked: Filter, deed: Deed) -> str:
    """What matches, as the page for acts on many takes it; empty where that page could not mean the same.

    It takes one status, and searches nothing. A retry leaves out what may have been sent unless the error code names
    it; the other acts are on nothing else.
    """
    wanted = asked.wanted
    if wanted is None or len(wanted.kind.statuses) != 1 or asked.form.cleaned_data["q"]:
        return ""
    if NONE in (wanted.provider, wanted.error_code):
        return ""
    if deed is Deed.RETRY and wanted.kind is Kind.HELD and wanted.error_code != UNCONFIRMED:
        return ""
    if deed is not Deed.RETRY and wanted.kind is Kind.FAILED:
        return ""
    given = asked.form.cleaned_data
    values = {
        "act": deed.value,
        "status": wanted.kind.statuses[0].value,
        **{name: given[name] for name in ("channel", "provider", "error_code", "reference")},
        "recipient": seal(given["recipient"]),
        "client": wanted.client_id,
        **{name: given[name] and f"{_shown(given[name])}Z" for name in ("after", "before")},
    }
    return urlencode({name: value for name, value in values.items() if value})


def _ids(asked: Mapping[str, Any], client_id: UUID | None) -> tuple[set[UUID] | None, bool]:
    """Those that everything that was searched for has in common; None when nothing was."""
    clients = [client_id] if client_id else selectors.client_ids()
    labels = [label for label in ("recipient", "reference") if asked[label]]
    found = [set(labelled(label, asked[label], clients, most=LABELLED_MOST)) for label in labels]
    is_cut = any(len(ids) == LABELLED_MOST for ids in found)
    found += [find_ids(asked["q"])] if asked["q"] else []
    return (set.intersection(*found) if found else None), is_cut


def _instant(text: str) -> datetime | None:
    try:
        at = parse_datetime(text)
        return at and utc(at if at.tzinfo else at.replace(tzinfo=UTC))
    except ValueError:
        return None


def _shown(at: datetime) -> str:
    """In UTC, to the second. `strftime` would leave out the zeros of a year before 1000."""
    return at.replace(tzinfo=None, microsecond=0).isoformat()
