"""An operator's act on everything that matches a filter."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from notifications.models.operator_action import Action, ActorKind
from notifyq.runtime.ids import uuid7


class BulkAction(StrEnum):
    """What can be done to many at once."""

    RETRY = Action.RETRY.value
    CANCEL = Action.CANCEL.value
    RESCHEDULE = Action.RESCHEDULE.value
    RESOLVE_SENT = "RESOLVE_SENT"
    RESOLVE_FAILED = "RESOLVE_FAILED"
    REDELIVER = "REDELIVER"
    """To webhook events, by the app that has them."""


BULK_ACTIONS = tuple(action for action in BulkAction if action is not BulkAction.REDELIVER)
"""What is done to notifications."""


class BulkStatus(StrEnum):
    """Where a bulk act stands."""

    RUNNING = "RUNNING"
    """The workers work it off."""
    STOPPED = "STOPPED"
    """A person stopped it; it can be resumed where it stands."""
    DONE = "DONE"
    """Everything that matched was looked at. Final."""
    FAILED = "FAILED"
    """Its batches went wrong again and again; it can be resumed where it stands."""


class BulkAct(models.Model):
    """What was asked for, by whom and why, and how far the workers have come.

    They work it off in batches, in the order of the cursor. A batch, its counts and the cursor's move are one
    transaction that holds this row's lock, so that no batch is done twice, whoever dies.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    form_id = models.UUIDField(unique=True, editable=False, help_text="Of the form that began it: once for each.")
    action = models.CharField(max_length=16, choices=[(a.value, a.value) for a in BulkAction])
    selection = models.JSONField(help_text="The filter, as its kind of act stores it.")
    selection_digest = models.CharField(max_length=64, editable=False)
    cutoff = models.DateTimeField(help_text="What came to match at or after it is not touched.")
    rate_per_second = models.PositiveSmallIntegerField()
    actor_kind = models.CharField(max_length=8, choices=[(k.value, k.value) for k in ActorKind])
    actor = models.CharField(max_length=150)
    reason = models.CharField(max_length=500)
    previewed_count = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="How many it was to act on, by its preview; NULL: too many to count.",
    )
    done_count = models.PositiveIntegerField(default=0, db_default=0)
    skipped_count = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Matched but could not be acted on; of the present pass."
    )
    missed_count = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Held by somebody else just then; looked at again in a further pass."
    )
    pass_number = models.PositiveSmallIntegerField(default=1, db_default=1)
    cursor_at = models.DateTimeField(null=True, blank=True)
    cursor_id = models.UUIDField(null=True, blank=True)
    status = models.CharField(
        max_length=8, default=BulkStatus.RUNNING, choices=[(s.value, s.value) for s in BulkStatus]
    )
    failure_count = models.PositiveSmallIntegerField(default=0, db_default=0, help_text="Failed batches in a row.")
    failure = models.CharField(max_length=64, blank=True, default="", db_default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    paced_at = models.DateTimeField(db_default=Now(), editable=False, help_text="Up to here its rate is used.")
    worked_at = models.DateTimeField(null=True, blank=True, help_text="The end of the last batch.")
    ended_at = models.DateTimeField(null=True, blank=True)
    history = models.JSONField(default=list, help_text="Who began, stopped and resumed it, and when.")

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index("paced_at", condition=Q(status=BulkStatus.RUNNING), name="bulk_act_running"),
        ]
        constraints: ClassVar = [
            # The same act twice at once would only be two people with one wish.
            models.UniqueConstraint(
                "action", "selection_digest", condition=Q(status=BulkStatus.RUNNING), name="bulk_act_one_running"
            ),
            models.CheckConstraint(condition=Q(action__in=list(BulkAction)), name="bulk_act_action"),
            models.CheckConstraint(condition=Q(actor_kind__in=list(ActorKind)), name="bulk_act_actor_kind"),
            models.CheckConstraint(condition=Q(status__in=list(BulkStatus)), name="bulk_act_status"),
            models.CheckConstraint(condition=Q(rate_per_second__gte=1), name="bulk_act_rate"),
            models.CheckConstraint(
                condition=Q(status=BulkStatus.DONE, ended_at__isnull=False)
                | ~Q(status=BulkStatus.DONE) & Q(ended_at__isnull=True),
                name="bulk_act_ended",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} of many by {self.actor}"
