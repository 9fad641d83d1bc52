"""What an operator does about the chosen ones: asked for a reason first, done by the services that the API calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import AbstractUser
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from notifications import selectors, services
from notifications.admin.dead_letters.rows import row_of
from notifications.admin.search import as_uuid
from notifications.errors import InvalidRequest, NotFound, PastExpiry, TooLate
from notifications.models import ActorKind
from notifications.services import Actor
from notifications.status import Status
from notifications.undelivered import SHOWN, UNDELIVERED

Done = Callable[[UUID, Actor, str, int | None], object]


def _retry(identity: UUID, actor: Actor, reason: str, outcome_sequence: int | None) -> object:
    return services.retry(identity, actor, reason=reason, outcome_sequence=outcome_sequence)


def _resolve(outcome: Status, identity: UUID, actor: Actor, reason: str, outcome_sequence: int | None) -> object:
    return services.resolve(identity, actor, outcome=outcome.value, reason=reason, outcome_sequence=outcome_sequence)


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that can be done.

    Attributes:
        verb: on the button.
        effect: what it does, in a sentence.
        do: calls the service.
        of_held: only what may have been sent can be meant.
    """

    verb: str
    effect: str
    do: Done
    of_held: bool = True


ACTS = {
    "retry": Act("Retry", "They are sent again, now, with all their attempts.", _retry, of_held=False),
    "resolve_as_sent": Act(
        "Mark as sent",
        "For those that may have been sent, when you know that they were delivered: they become SENT, and their "
        "client is told so.",
        partial(_resolve, Status.SENT),
    ),
    "resolve_as_failed": Act(
        "Mark as not delivered",
        "For those that may have been sent, when you know that they were not delivered: they become FAILED, and can "
        "be retried without any risk of a second copy.",
        partial(_resolve, Status.FAILED),
    ),
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A row as the form names it: `id`, or `id:outcome_sequence` once it was shown to whoever confirms.

    The latter holds the act to what was seen: a form that is sent twice acts once, even when a retry has failed again
    in between.
    """

    id: UUID
    outcome_sequence: int | None

    @classmethod
    def read(cls, text: str) -> Chosen | None:
        """None for anything else."""
        identity, _, sequence = text.partition(":")
        found = as_uuid(identity)
        if found is None or not (sequence == "" or (sequence.isascii() and sequence.isdigit() and len(sequence) < 6)):
            return None
        return cls(found, int(sequence) if sequence else None)


def act(request: HttpRequest) -> HttpResponse:
    """Show what was chosen and ask for a reason; when that is given, by POST, do it and go back to the list."""
    data = request.POST if request.method == "POST" else request.GET
    back, wanted = _list_address(data.get("back", "")), ACTS.get(data.get("act", ""))
    chosen = [found for text in data.getlist("row")[:SHOWN] if (found := Chosen.read(text))]
    if wanted is None or not chosen:
        messages.warning(request, "Nothing was done: tick at least one notification, and say what to do with it.")
        return redirect(back)
    reason = data.get("reason", "").strip()
    if request.method != "POST" or "confirmed" not in data or not reason:
        return _ask(request, data, wanted, chosen, back)
    _tell(request, wanted, len(chosen), _do(wanted, chosen, Actor(ActorKind.USER, _name(request.user)), reason))
    return redirect(back)


def _ask(request: HttpRequest, data: QueryDict, wanted: Act, chosen: Sequence[Chosen], back: str) -> HttpResponse:
    rows = [row_of(row, request) for row in selectors.by_ids([each.id for each in chosen])]
    doable = [row for row in rows if (row.is_held if wanted.of_held else row.is_open)]
    context = {
        **admin.site.each_context(request),
        "title": f"{wanted.verb}: {len(doable)} notification{'' if len(doable) == 1 else 's'}",
        "act": data["act"],
        "wanted": wanted,
        "rows": doable,
        "left_count": len(chosen) - len(doable),
        "held_count": sum(row.is_held for row in doable),
        "back": back,
        "back_query": data.get("back", ""),
        "reason_is_missing": "confirmed" in data,
    }
    return TemplateResponse(request, "console/dead_letters/confirm.html", context)


def _do(wanted: Act, chosen: Sequence[Chosen], actor: Actor, reason: str) -> list[str]:
    """Each by itself, so that one that moved on stops no other. Returns why some were left alone."""
    return [problem for each in chosen if (problem := _attempted(wanted, each, actor, reason))]


def _attempted(wanted: Act, chosen: Chosen, actor: Actor, reason: str) -> str | None:
    """Why it was not done; None when it was."""
    try:
        wanted.do(chosen.id, actor, reason, chosen.outcome_sequence)
    except TooLate as late:
        return _too_late(late.status, wanted)
    except PastExpiry:
        return "its time to live is over; retry it through the API with a new expiresAt"
    except (InvalidRequest, NotFound) as refused:
        return str(refused)
    return None


def _too_late(status: str, wanted: Act) -> str:
    if status not in UNDELIVERED:
        return f"it is {status}"
    return "it is not held as unconfirmed" if wanted.of_held else "it was retried and failed again since"


def _tell(request: HttpRequest, wanted: Act, count: int, problems: Sequence[str]) -> None:
    done = count - len(problems)
    if done:
        messages.success(request, f"{wanted.verb}: done for {done} of {count}.")
    for problem in dict.fromkeys(problems):
        messages.warning(request, f"{problems.count(problem)} left alone: {problem}.")


def _list_address(query: str) -> str:
    """The list as it was. Whatever was sent stays behind the question mark: it leads nowhere else."""
    return f"{reverse('admin:dead-letters-list')}?{QueryDict(query).urlencode()}".rstrip("?")


def _name(user: object) -> str:
    return user.get_username()[:150] if isinstance(user, AbstractUser) else str(user)[:150]
