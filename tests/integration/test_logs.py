"""Real errors of PostgreSQL, as they come out of the log."""

import json
import logging
import sys

import pytest
from django.db import DatabaseError, connection, transaction

from notifications.models import Client, Notification
from notifyq.runtime.logs import JsonFormatter, describe_error

pytestmark = pytest.mark.django_db
ADDRESS = "ada@example.com"


def failed(act):
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        act()
    return caught.value


def logged(error, **fields):
    try:
        raise error
    except DatabaseError:
        record = logging.LogRecord("test", logging.ERROR, "", 0, "round_failed", (), sys.exc_info())
    record.__dict__.update(fields, error=error, reason=describe_error(error))
    return JsonFormatter().format(record)


def notification(**fields):
    client, _ = Client.objects.get_or_create(name="Shop")
    filled = {
        "client": client,
        "idempotency_key": "k",
        "fingerprint": b"f",
        "channel": "EMAIL",
        "recipient": ADDRESS,
        "send_at": "2030-01-01T00:00Z",
        "max_attempts": 6,
        "on_unconfirmed": "RETRY",
        "status": "PENDING",
    }
    return Notification(**{**filled, **fields})


def test_check_violation__row_holds_a_recipient__recipient_is_not_logged():
    error = failed(notification(status="NONSENSE").save)
    assert ADDRESS in str(error)  # PostgreSQL does repeat the row
    assert ADDRESS not in logged(error, text=str(error))
    assert "notification_status" in json.loads(logged(error))["traceback"]


def test_unique_violation__key_holds_a_recipient__recipient_is_not_logged():
    notification(idempotency_key=ADDRESS).save()
    error = failed(notification(idempotency_key=ADDRESS).save)
    assert ADDRESS in str(error)
    assert ADDRESS not in logged(error, text=str(error))
    assert describe_error(error).startswith("23505 ")


@pytest.mark.parametrize("sql", ["SELECT %s::uuid", "SELECT %s FROM nowhere", "SELECT to_date(%s, 'YYYY-MM-DD')"])
def test_faulty_statement__value_is_a_recipient__recipient_is_not_logged(sql):
    error = failed(lambda: connection.cursor().execute(sql, [ADDRESS]))
    assert ADDRESS not in logged(error)
