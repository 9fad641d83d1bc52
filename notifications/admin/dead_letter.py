"""What ended undelivered, and what an operator can do about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import AbstractUser
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from notifications import services
from notifications.admin.notification import NotificationAdmin
from notifications.errors import InvalidRequest, NotFound, PastExpiry, TooLate
from notifications.models import ActorKind, DeadLetter
from notifications.outcome import UNCONFIRMED
from notifications.services import Actor
from notifications.status import Status
from notifyq.roles import OPERATE

_UNDELIVERED = (Status.DEAD_LETTERED, Status.FAILED)


class KindFilter(admin.SimpleListFilter):
    """Dead letters unless another kind is asked for."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("unconfirmed", "held as unconfirmed"), ("failed", "failed for good"), ("all", "all undelivered")]

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        yield first | {"display": "dead letters"}
        yield from others

    def queryset(self, request: HttpRequest, queryset: QuerySet[DeadLetter]) -> QuerySet[DeadLetter]:
        match self.value():
            case "all":
                return queryset
            case "failed":
                return queryset.filter(status=Status.FAILED)
            case "unconfirmed":
                return queryset.filter(status=Status.DEAD_LETTERED, last_error_code=UNCONFIRMED)
        return queryset.filter(status=Status.DEAD_LETTERED)


@admin.register(DeadLetter)
class DeadLetterAdmin(NotificationAdmin):
    """Read-only like every page, but for actions that call the services the API calls, and are recorded."""

    ordering = ("-finished_at", "-id")
    list_display = (
        *("short_id", "status_badge", "finished_at", "channel", "recipient", "client", "last_error"),
        *("provider_used", "retries"),
    )
    list_filter = (KindFilter, "channel", "client")
    actions = ("retry", "resolve_as_sent", "resolve_as_failed")

    @admin.display(description="provider")
    def provider_used(self, row: DeadLetter) -> str:
        return row.last_used_provider or "-"

    @admin.display(description="retried")
    def retries(self, row: DeadLetter) -> str:
        return str(row.operator_retry_count or "-")

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeadLetter]:
        rows: QuerySet[DeadLetter] = super().get_queryset(request).filter(status__in=_UNDELIVERED)
        return rows

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Who sees an action at all."""
        return request.user.has_perm(OPERATE)

    @admin.action(description="Retry: send again, with all attempts", permissions=["operate"])
    def retry(self, request: HttpRequest, rows: QuerySet[DeadLetter]) -> HttpResponse | None:
        def act(row: DeadLetter, actor: Actor, reason: str) -> None:
            services.retry(row.pk, actor, reason=reason)

        return self._confirmed(request, rows, "retry", "Retry", act)

    @admin.action(description="Resolve: it was delivered", permissions=["operate"])
    def resolve_as_sent(self, request: HttpRequest, rows: QuerySet[DeadLetter]) -> HttpResponse | None:
        return self._confirmed(request, rows, "resolve_as_sent", "Mark as sent", _resolving(Status.SENT))

    @admin.action(description="Resolve: it was not delivered", permissions=["operate"])
    def resolve_as_failed(self, request: HttpRequest, rows: QuerySet[DeadLetter]) -> HttpResponse | None:
        return self._confirmed(request, rows, "resolve_as_failed", "Mark as failed", _resolving(Status.FAILED))

    def _confirmed(
        self,
        request: HttpRequest,
        rows: QuerySet[DeadLetter],
        action: str,
        verb: str,
        act: Callable[[DeadLetter, Actor, str], None],
    ) -> HttpResponse | None:
        """Ask for a reason first; then act on each row by itself, so that one that moved on stops no other."""
        chosen = list(rows.select_related("client")[: self.list_per_page])
        reason = request.POST.get("reason", "").strip()
        if "confirmed" not in request.POST or not reason:
            return self._ask(request, chosen, action, verb)
        actor = Actor(ActorKind.USER, _name(request.user))
        problems = [problem for row in chosen if (problem := _attempted(act, row, actor, reason))]
        done = len(chosen) - len(problems)
        if done:
            self.message_user(request, f"{verb}: done for {done} of {len(chosen)}.", messages.SUCCESS)
        for problem in dict.fromkeys(problems):
            self.message_user(request, f"{problems.count(problem)} left alone: {problem}.", messages.WARNING)
        return None

    def _ask(self, request: HttpRequest, chosen: list[DeadLetter], action: str, verb: str) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": f"{verb}: {len(chosen)} notification{'' if len(chosen) == 1 else 's'}",
            "opts": self.model._meta,
            "rows": [(row, self.short_id(row), self.status_badge(row), self.last_error(row)) for row in chosen],
            "action": action,
            "verb": verb,
            "unsure_count": sum(bool(row.unconfirmed_provider) for row in chosen),
            "reason_is_missing": "confirmed" in request.POST,
        }
        return TemplateResponse(request, "admin/notifications/confirm_act.html", context)


def _resolving(outcome: Status) -> Callable[[DeadLetter, Actor, str], None]:
    def act(row: DeadLetter, actor: Actor, reason: str) -> None:
        services.resolve(row.pk, actor, outcome=outcome.value, reason=reason)

    return act


def _attempted(act: Callable[[DeadLetter, Actor, str], None], row: DeadLetter, actor: Actor, reason: str) -> str | None:
    """Why it was not done; None when it was."""
    try:
        act(row, actor, reason)
    except TooLate as late:
        return f"it is {late.status}" if late.status not in _UNDELIVERED else "it is not held as unconfirmed"
    except PastExpiry:
        return "its time to live is over; retry it through the API with a new expiresAt"
    except (InvalidRequest, NotFound) as refused:
        return str(refused)
    return None


def _name(user: object) -> str:
    return user.get_username()[:150] if isinstance(user, AbstractUser) else str(user)[:150]
