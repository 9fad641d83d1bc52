"""Rows for tests: ask for a state, and the columns that hang on it are filled so that the database accepts the row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import factory
from factory.django import DjangoModelFactory

from notifications import accounts
from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.models import ApiKey, Attempt, Client, Content, Notification
from notifications.status import FINAL, Status, WaitingReason
from notifications.verdict import Outcome

PROVIDER = "sandbox"
WORKER = "worker-of-a-test"
_UNTRIED = {Status.PENDING, Status.CANCELLED, Status.EXPIRED}
_FAILED = {Status.FAILED, Status.DEAD_LETTERED}


def ago(seconds: float = 1.0) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)


class ClientFactory(DjangoModelFactory):
    class Meta:
        model = Client

    name = factory.Sequence(lambda n: f"client-{n}")


class ApiKeyFactory(DjangoModelFactory):
    """A usable key; the whole of it stands in `.secret`."""

    class Meta:
        model = ApiKey

    client = factory.SubFactory(ClientFactory)
    scopes = ("send", "read")

    @classmethod
    def _create(cls, model_class, *args, client, scopes, **columns):
        made = accounts.create_key(client, scopes)
        key = made.api_key
        key.secret = made.secret  # type: ignore[attr-defined]
        for name, value in columns.items():
            setattr(key, name, value)
        if columns:
            key.save(update_fields=list(columns))
        return key


class ContentFactory(DjangoModelFactory):
    class Meta:
        model = Content

    notification = factory.SubFactory("tests.support.factories.NotificationFactory", content=None)
    subject = factory.LazyAttribute(lambda o: "" if o.notification.channel == Channel.SMS else "A subject")
    body = "A body"


class NotificationFactory(DjangoModelFactory):
    """`NotificationFactory(status=PROCESSING)` is held under a lease, `SENT` has a provider, and so on.

    The content is a row of its own: `content__body="…"`.
    """

    class Meta:
        model = Notification
        skip_postgeneration_save = True

    client = factory.SubFactory(ClientFactory)
    idempotency_key = factory.Sequence(lambda n: f"key-{n}")
    fingerprint = bytes(32)
    channel = Channel.EMAIL
    recipient = factory.LazyAttributeSequence(
        lambda o, n: {
            Channel.EMAIL: f"person{n}@example.com",
            Channel.SMS: f"+1415555{n % 10_000:04d}",
            Channel.PUSH: f"fcm:device{n}",
            Channel.IN_APP: f"user-{n}",
        }[Channel(o.channel)]
    )
    priority = Priority.NORMAL
    status = Status.PENDING
    send_at = factory.LazyFunction(ago)
    due_at = factory.SelfAttribute("send_at")
    created_at = factory.LazyFunction(ago)
    updated_at = factory.SelfAttribute("created_at")
    max_attempts = 6
    on_unconfirmed = OnUnconfirmed.RETRY
    waiting_reason = factory.LazyAttribute(
        lambda o: WaitingReason.SCHEDULED if o.status == Status.PENDING and o.due_at > datetime.now(UTC) else ""
    )
    attempt_count = factory.LazyAttribute(
        lambda o: 0 if o.status in _UNTRIED else o.max_attempts if o.status == Status.DEAD_LETTERED else 1
    )
    claim_token = factory.LazyAttribute(lambda o: uuid4() if o.status == Status.PROCESSING else None)
    worker_id = factory.LazyAttribute(lambda o: WORKER if o.status == Status.PROCESSING else "")
    lease_expires_at = factory.LazyAttribute(lambda o: ago(-300) if o.status == Status.PROCESSING else None)
    unconfirmed_provider = factory.LazyAttribute(lambda o: PROVIDER if o.status == Status.RECONCILING else "")
    unconfirmed_at = factory.LazyAttribute(lambda o: ago() if o.unconfirmed_provider else None)
    provider = factory.LazyAttribute(lambda o: PROVIDER if o.status == Status.SENT else "")
    provider_message_id = factory.LazyAttribute(lambda o: f"message-{uuid4().hex}" if o.status == Status.SENT else "")
    last_used_provider = factory.LazyAttribute(lambda o: "" if o.status in _UNTRIED | {Status.PROCESSING} else PROVIDER)
    last_error_code = factory.LazyAttribute(lambda o: "a_reason" if o.status in _FAILED else "")
    last_error_message = factory.LazyAttribute(lambda o: "It was refused" if o.status in _FAILED else "")
    expires_at = factory.LazyAttribute(lambda o: ago() if o.status == Status.EXPIRED else None)
    finished_at = factory.LazyAttribute(lambda o: ago(0) if o.status in FINAL else None)

    content = factory.RelatedFactory(ContentFactory, factory_related_name="notification")


class AttemptFactory(DjangoModelFactory):
    class Meta:
        model = Attempt

    notification = factory.SubFactory(NotificationFactory, status=Status.SENT)
    cycle = 1
    number = 1
    hop = 1
    provider = PROVIDER
    outcome = Outcome.ACCEPTED
    error_code = factory.LazyAttribute(lambda o: "" if o.outcome == Outcome.ACCEPTED else "a_reason")
    provider_message_id = factory.LazyAttribute(lambda o: "message-1" if o.outcome == Outcome.ACCEPTED else "")
    started_at = factory.LazyFunction(ago)
    finished_at = factory.LazyFunction(lambda: ago(0))
    worker_id = WORKER
    claim_token = factory.LazyFunction(uuid4)
