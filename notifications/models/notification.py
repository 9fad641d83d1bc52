"""The queue row."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Now

from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.models.client import Client
from notifications.receipts.status import DeliveryStatus
from notifications.status import FINAL, Status, WaitingReason
from notifyq.leasing.models import LeasedModel

PENDING = Q(status=Status.PENDING)
READY = PENDING & Q(parked_by__isnull=True)
PROCESSING = Q(status=Status.PROCESSING)
RECONCILING = Q(status=Status.RECONCILING)
_UNHELD = Q(claim_token__isnull=True, lease_expires_at__isnull=True, worker_id="", sending_provider="")
_ASKING = Q(claim_token__isnull=False, lease_expires_at__isnull=True, sending_provider="") & ~Q(worker_id="")
"""Its provider is being asked about it: until `due_at`, when another may ask."""
SELDOM = (Status.RECONCILING, Status.FAILED, Status.DEAD_LETTERED, Status.CANCELLED, Status.EXPIRED)
"""The states without an index of their own that few rows are in, by comparison."""


class Notification(LeasedModel):
    """One content for one recipient over one channel; the row that waits, is claimed, and ends.

    Its status is changed by `notifications.queue` alone. What is only read (the rendered content) has a row of its
    own, `Content`, so that each new version of this row stays small.
    """

    client = models.ForeignKey(Client, on_delete=models.PROTECT, related_name="+", db_index=False)
    idempotency_key = models.CharField(max_length=255)
    target_index = models.PositiveSmallIntegerField(default=0, db_default=0)
    fingerprint = models.BinaryField(max_length=32, help_text="SHA-256 of the canonical request.")
    group_id = models.UUIDField(null=True, blank=True)

    channel = models.CharField(max_length=8, choices=[(c.value, c.value) for c in Channel])
    recipient = models.CharField(max_length=1024, help_text="In canonical form.")
    priority = models.PositiveSmallIntegerField(
        choices=[(p.value, p.name) for p in Priority], default=Priority.NORMAL, db_default=Priority.NORMAL.value
    )
    promoted = models.BooleanField(
        default=False, db_default=False, help_text="It has been due for so long that it is served like a HIGH one."
    )
    # The database works it out, so that whoever writes a row need not know of it.
    rank = models.GeneratedField(
        expression=Case(
            When(promoted=True, then=Value(Priority.HIGH.value)),
            default=F("priority"),
            output_field=models.PositiveSmallIntegerField(),
        ),
        output_field=models.PositiveSmallIntegerField(),
        db_persist=True,
        help_text="What the claim goes by: the priority, unless it was promoted.",
    )
    waiting_reason = models.CharField(
        max_length=24, blank=True, default="", db_default="", choices=[(r.value, r.value) for r in WaitingReason]
    )
    parked_by = models.UUIDField(
        null=True,
        blank=True,
        help_text="What keeps it out of the claim's way: the bucket of a full rate limit, or a pause.",
    )
    send_at = models.DateTimeField(help_text="The time asked for; `due_at` moves with retries, this does not.")
    expires_at = models.DateTimeField(null=True, blank=True)
    max_attempts = models.PositiveSmallIntegerField()
    on_unconfirmed = models.CharField(max_length=8, choices=[(o.value, o.value) for o in OnUnconfirmed])

    sending_provider = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="Made durable before a send that has no key."
    )
    send_started_at = models.DateTimeField(null=True, blank=True)
    unconfirmed_provider = models.CharField(
        max_length=40,
        blank=True,
        default="",
        db_default="",
        help_text="Where an attempt is open that may have been sent.",
    )
    unconfirmed_at = models.DateTimeField(
        null=True, blank=True, help_text="When the first such attempt was made, or a little before."
    )
    reconciled_at = models.DateTimeField(
        null=True, blank=True, help_text="When its provider was last asked what became of it."
    )
    look_up_count = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="How often it was asked since the doubt arose."
    )
    final_check = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Attempts used up by a lost worker: one more send under the same key.",
    )

    provider = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="The one that accepted it."
    )
    last_used_provider = models.CharField(max_length=40, blank=True, default="", db_default="")
    provider_message_id = models.CharField(max_length=255, blank=True, default="", db_default="")
    delivery_status = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        choices=[(s.value, s.value) for s in DeliveryStatus],
        help_text="The strongest of its provider's receipts; no state of the queue.",
    )
    reported_trouble = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        help_text="The same while it is no good news. It has an index, so that other reports need none.",
    )
    last_error_code = models.CharField(max_length=64, blank=True, default="", db_default="")
    last_error_message = models.CharField(max_length=500, blank=True, default="", db_default="")
    outcome_sequence = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="How often it has reached a final state: it can again after a retry."
    )
    operator_retry_count = models.PositiveSmallIntegerField(default=0, db_default=0)

    user_id = models.CharField(max_length=255, blank=True, default="", db_default="")
    reference = models.CharField(max_length=255, blank=True, default="", db_default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        permissions: ClassVar = [
            ("operate_notification", "Can retry, cancel, reschedule and resolve"),
            ("see_private", "Can see recipients and contents"),
        ]
        indexes: ClassVar = [
            # Its key is the claim's ORDER BY, and no row that may not be claimed stands in it.
            models.Index("rank", "due_at", "id", condition=READY & Q(suspect=False), name="notification_claim"),
            # The same for workers that serve some channels only.
            models.Index(
                "channel",
                "rank",
                "due_at",
                "id",
                condition=READY & Q(suspect=False),
                name="notification_claim_channel",
            ),
            models.Index("rank", "due_at", "id", condition=READY & Q(suspect=True), name="notification_suspect"),
            # What else waits for a recipient that was found over the limit.
            models.Index(
                "client", "recipient", "due_at", condition=READY & Q(suspect=False), name="notification_ready"
            ),
            models.Index(
                "parked_by",
                "rank",
                "due_at",
                "id",
                condition=Q(parked_by__isnull=False),
                name="notification_parked",
            ),
            # Each provider's are found by themselves, so that one that answers slowly keeps nobody from asking others.
            models.Index(
                "unconfirmed_provider", "due_at", "id", condition=RECONCILING, name="notification_reconciling"
            ),
            # For operators: what waits, in an order that nothing changes; and for a reason that few may have.
            models.Index("id", condition=PENDING, name="notification_waiting"),
            models.Index("waiting_reason", "id", condition=~Q(waiting_reason=""), name="notification_reason"),
            models.Index("lease_expires_at", condition=Q(lease_expires_at__isnull=False), name="notification_lease"),
            models.Index("expires_at", condition=PENDING & Q(expires_at__isnull=False), name="notification_expiry"),
            models.Index("client", "id", name="notification_client"),
            models.Index("client", "recipient", "id", name="notification_recipient"),
            models.Index("client", "reference", "id", condition=~Q(reference=""), name="notification_reference"),
            models.Index("client", "user_id", "id", condition=~Q(user_id=""), name="notification_user"),
            models.Index("group_id", condition=Q(group_id__isnull=False), name="notification_group"),
            # For receipts that do not carry our key.
            models.Index("provider_message_id", condition=~Q(provider_message_id=""), name="notification_message_id"),
            # What came to grief at the recipient's side, of one client or of all.
            models.Index(
                "reported_trouble", "id", "client", condition=~Q(reported_trouble=""), name="notification_trouble"
            ),
            # For operators: what ended undelivered, the longest ago first; counted, grouped and narrowed down without
            # the table. None of the columns it carries changes without the status, so it costs no HOT update.
            models.Index(
                fields=["status", "finished_at", "id"],
                include=[
                    *("channel", "client", "last_used_provider", "last_error_code", "unconfirmed_provider"),
                ],
                condition=Q(status__in=SELDOM),
                name="notification_undelivered",
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint("client", "idempotency_key", "target_index", name="notification_idempotency"),
            models.CheckConstraint(condition=Q(status__in=list(Status)), name="notification_status"),
            models.CheckConstraint(condition=Q(channel__in=list(Channel)), name="notification_channel"),
            models.CheckConstraint(
                condition=Q(delivery_status="") | Q(delivery_status__in=list(DeliveryStatus)),
                name="notification_delivery_status",
            ),
            models.CheckConstraint(condition=Q(priority__in=list(Priority)), name="notification_priority"),
            models.CheckConstraint(
                condition=Q(on_unconfirmed__in=list(OnUnconfirmed)), name="notification_on_unconfirmed"
            ),
            models.CheckConstraint(
                condition=Q(waiting_reason="") | (PENDING & Q(waiting_reason__in=list(WaitingReason))),
                name="notification_waiting_reason",
            ),
            models.CheckConstraint(
                condition=PENDING | Q(parked_by__isnull=True), name="notification_parked_only_pending"
            ),
            models.CheckConstraint(
                condition=(
                    PROCESSING & Q(claim_token__isnull=False, lease_expires_at__isnull=False) & ~Q(worker_id="")
                    | ~PROCESSING & _UNHELD
                    | RECONCILING & _ASKING
                ),
                name="notification_lease_held",
            ),
            models.CheckConstraint(
                condition=Q(status__in=sorted(FINAL), finished_at__isnull=False)
                | ~Q(status__in=sorted(FINAL)) & Q(finished_at__isnull=True),
                name="notification_finished",
            ),
            models.CheckConstraint(condition=Q(attempt_count__lte=F("max_attempts")), name="notification_attempts"),
            models.CheckConstraint(
                condition=~PENDING | Q(attempt_count__lt=F("max_attempts")) | Q(final_check=True),
                name="notification_pending_has_attempts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel} {self.id}"
