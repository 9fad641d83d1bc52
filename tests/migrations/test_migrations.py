"""The migrations make what the models say, and can be taken back."""

import uuid
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.models.functions import Now

from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.models import Attempt, Client, Notification
from notifications.receipts import DeliveryStatus
from notifications.status import FINAL, Status, WaitingReason
from notifications.verdict import Outcome
from tests.support.source import PACKAGES

OURS = sorted({app for app, _ in MigrationLoader(None).disk_migrations} & set(PACKAGES))
# Columns with a CHECK, and the enumeration that it has to agree with.
ENUMERATIONS = [
    ("status", Status),
    ("channel", Channel),
    ("priority", Priority),
    ("on_unconfirmed", OnUnconfirmed),
    ("waiting_reason", WaitingReason),
    ("delivery_status", DeliveryStatus),
]


def tables():
    return set(connection.introspection.table_names())


@pytest.fixture
def client(db):
    return Client.objects.create(name="c")


def row(client, **changes):
    """A PENDING notification, or what the changes make of it; stored whole, whatever the models think of it."""
    fields = {
        "client": client,
        "idempotency_key": uuid.uuid4().hex,
        "fingerprint": b"f",
        "channel": Channel.EMAIL,
        "recipient": "a@example.com",
        "priority": Priority.NORMAL,
        "status": Status.PENDING,
        "send_at": Now(),
        "max_attempts": 6,
        "on_unconfirmed": OnUnconfirmed.RETRY,
    }
    return Notification.objects.create(**fields | changes)


def in_status(status):
    """What a row needs beside its status."""
    if status == Status.PROCESSING:
        return {"status": status, "claim_token": uuid.uuid4(), "lease_expires_at": Now(), "worker_id": "w"}
    return {"status": status, "finished_at": Now() if status in FINAL else None}


@pytest.mark.django_db
def test_models__against_the_migrations__need_no_new_one():
    out = StringIO()

    call_command("makemigrations", check=True, dry_run=True, stdout=out)

    assert "No changes detected" in out.getvalue()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("label", OURS)
def test_migrations__one_by_one__can_be_taken_back_and_applied_again(label):
    """Each is taken back in a transaction of its own, the last one first."""
    before = tables()

    try:
        call_command("migrate", label, "zero", verbosity=0)
        left = {t for t in tables() if t.startswith(f"{label}_")}
    finally:
        call_command("migrate", verbosity=0)

    assert left == set()
    assert tables() == before


@pytest.mark.django_db
@pytest.mark.parametrize("status", Status)
def test_status_check__for_each_status__lets_it_in(client, status):
    assert row(client, **in_status(status)).pk


@pytest.mark.django_db
@pytest.mark.parametrize(("column", "values"), ENUMERATIONS, ids=lambda v: v if isinstance(v, str) else "")
def test_checks__for_each_value_of_the_enumeration__let_it_in(client, column, values):
    for value in values:
        changes = in_status(value) if column == "status" else {column: value}
        assert row(client, **changes).pk


@pytest.mark.django_db
@pytest.mark.parametrize(("column", "values"), ENUMERATIONS, ids=lambda v: v if isinstance(v, str) else "")
def test_checks__for_any_other_value__refuse_it(client, column, values):
    strange = 99 if column == "priority" else "STRANGE"

    with pytest.raises(IntegrityError, match=f"notification_{column}"), transaction.atomic():
        row(client, **{column: strange})


@pytest.mark.django_db
def test_attempt_check__for_each_outcome__agrees_with_the_enumeration(client):
    notification = row(client)
    base = {
        "notification": notification,
        "cycle": 1,
        "number": 1,
        "hop": 1,
        "finished_at": Now(),
        "worker_id": "w",
        "claim_token": uuid.uuid4(),
    }

    for outcome in Outcome:
        assert Attempt.objects.create(outcome=outcome, **base).pk
    with pytest.raises(IntegrityError, match="attempt_outcome"), transaction.atomic():
        Attempt.objects.create(outcome="STRANGE", **base)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("constraint", "changes"),
    [
        ("notification_lease_held", {"status": Status.PROCESSING}),
        ("notification_lease_held", {"worker_id": "w"}),
        ("notification_lease_held", {"sending_provider": "smtp"}),
        ("notification_finished", {"status": Status.SENT}),
        ("notification_finished", {"finished_at": Now()}),
        ("notification_waiting_reason", in_status(Status.SENT) | {"waiting_reason": WaitingReason.SCHEDULED}),
        ("notification_attempts", {"attempt_count": 7, "final_check": True}),
        ("notification_pending_has_attempts", {"attempt_count": 6}),
    ],
)
def test_checks__for_a_row_that_cannot_be__refuse_it(client, constraint, changes):
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        row(client, **changes)
