"""The number that the database gives each content: a worker gets it, on every attempt the same."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from notifications import queue
from notifications.channel import Channel
from notifications.delivery.held import Held, message_of
from notifications.models import Content
from notifications.outcome import given_back
from notifications.providers.sms.bulksms import BulkSmsProvider
from tests.support.fault_server import FaultServer
from tests.support.rows import add, claim
from tests.support.sms import answer, in_turn, target

MOST = 2**31 - 1


def messages(limit=10):
    """What a provider would get of everything that is due."""
    return [message_of(Held.since(claimed, 0.0, 60.0), {}) for claimed in claim(limit=limit)]


@pytest.mark.django_db
def test_serial__of_each_message__is_its_own_and_fits_into_31_bits():
    add(5, channel=Channel.SMS)

    serials = [message.serial for message in messages()]

    assert len(set(serials)) == 5
    assert all(1 <= serial <= MOST for serial in serials)


@pytest.mark.django_db
def test_serial__of_a_row_written_without_it__is_given_too():
    [pk] = add()
    connection.cursor().execute("DELETE FROM notifications_content WHERE notification_id = %s", [pk])
    Content.objects.create(notification_id=pk, body="x")

    assert Content.objects.values_list("serial", flat=True).get() >= 1


@pytest.mark.django_db
def test_serial__of_the_last_number__is_followed_by_the_first():
    connection.cursor().execute("SELECT setval('notifications_content_serial_seq', %s)", [MOST - 1])
    add(2)

    assert sorted(Content.objects.values_list("serial", flat=True)) == [1, MOST]


@pytest.mark.django_db
def test_bulksms__second_attempt__has_the_number_of_the_first():
    add(channel=Channel.SMS)
    with FaultServer(in_turn(answer(500, {}), answer(500, {}))) as server:
        provider = BulkSmsProvider("bulksms", auth=("id", "secret"), url=server.url)
        for _ in range(2):
            [claimed] = claim()
            provider.send(message_of(Held.since(claimed, 0.0, 60.0), {}), timeout_seconds=10)
            queue.release([queue.Ending(claimed.id, claimed.token, given_back(claimed.standing))])
        provider.close()

    first, second = (target(request)[2]["deduplication-id"] for request in server.requests)
    assert first == second == str(Content.objects.values_list("serial", flat=True).get())


@pytest.mark.django_db(transaction=True)
def test_migration__rows_that_are_there_already__are_numbered():
    names = sorted(name for app, name in MigrationLoader(None).disk_migrations if app == "notifications")
    [before] = [names[i - 1] for i, name in enumerate(names) if name.endswith("_number_content")]
    ids = add(3)
    try:
        call_command("migrate", "notifications", before, verbosity=0)
        assert "serial" not in columns_of("notifications_content")
    finally:
        call_command("migrate", verbosity=0)

    numbered = dict(Content.objects.filter(pk__in=ids).values_list("pk", "serial"))
    assert set(numbered) == set(ids)
    assert len(set(numbered.values())) == 3


def columns_of(table):
    with connection.cursor() as cursor:
        return {column.name for column in connection.introspection.get_table_description(cursor, table)}
