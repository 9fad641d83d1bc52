"""Where rows are ticked, and what each act is called there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.urls import reverse

from notifications.admin.story.forms import AT, DELAY, UNIT
from notifications.story.acts import Deed, Field


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What is said of an act on several.

    Attributes:
        verb: on the button that asks for it.
        on_several: on the one that does it.
        effect: what it does, in a sentence.
        fields: what it asks for beside the reason.
    """

    verb: str
    on_several: str
    effect: str
    fields: Sequence[Field] = ()

    @property
    def on_all(self) -> str:
        """What leads to the act on everything that a list shows."""
        return f"{self.on_several.format('everything that matches')}…"

    def on(self, count: int) -> str:
        """The act on so many."""
        return self.on_several.format(f"{count} notification{'' if count == 1 else 's'}")


WORDINGS: Mapping[Deed, Wording] = {
    Deed.RETRY: Wording(
        verb="Retry", on_several="Retry {}", effect="They are sent again, now, with all their attempts."
    ),
    Deed.CANCEL: Wording(verb="Cancel", on_several="Cancel {}", effect="They are never sent. This cannot be undone."),
    Deed.RESCHEDULE: Wording(
        verb="Reschedule",
        on_several="Reschedule {}",
        effect="They are not sent before the new time. Their attempts and their times of expiry stay as they are.",
        fields=(AT, DELAY, UNIT),
    ),
    Deed.RESOLVE_SENT: Wording(
        verb="Mark as sent",
        on_several="Mark {} as sent",
        effect="For those that may have been sent, when you know that they were delivered: they become SENT, and their "
        "client is told so. This cannot be undone.",
    ),
    Deed.RESOLVE_FAILED: Wording(
        verb="Mark as not delivered",
        on_several="Mark {} as not delivered",
        effect="For those that may have been sent, when you know that they were not delivered: they become FAILED, and "
        "can be retried without any risk of a second copy.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A list on which rows can be ticked.

    Attributes:
        label: what the trail of links calls it.
        list_name, act_name: for `reverse`; the list, and where its form is posted to.
        path: of the latter, under /admin/.
        deeds: what it offers, in this order.
    """

    label: str
    list_name: str
    act_name: str
    path: str
    deeds: Sequence[Deed]

    @property
    def act_address(self) -> str:
        return reverse(f"admin:{self.act_name}")

    def deed(self, name: str) -> Deed | None:
        """The act of that name; None when it is not offered here."""
        return next((deed for deed in self.deeds if deed == name), None)

    def list_address(self, query: str) -> str:
        """The list as it was. Whatever was sent stays behind the question mark: it leads nowhere else."""
        return f"{reverse(self.list_name)}?{QueryDict(query).urlencode()}".rstrip("?")
