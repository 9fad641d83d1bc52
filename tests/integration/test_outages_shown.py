"""What is due and that no provider could take says so wherever it is shown, though nothing of it is written."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext

from notifications import queue, services
from notifications.breaker import BreakerRule, Calls
from notifications.channel import Channel
from notifications.models import Notification, ProviderHealth
from notifications.status import WaitingReason
from notifyq.roles import Role
from tests.support.api import NOTIFICATIONS, Caller
from tests.support.console import person, words_of
from tests.support.rows import add

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("chains")]

UNAVAILABLE = "PROVIDER_UNAVAILABLE"


def fails(channel: Channel, name: str) -> str:
    """Its breaker is opened by a fault. Returns when the probe is due, as the API writes it."""
    queue.record_calls((channel, name), Calls(0, failures=1, opens=True, error_code="http_401"), BreakerRule())
    due_at = ProviderHealth.objects.get(channel=channel, provider=name).probe_due_at
    assert due_at is not None
    return due_at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def shown(operator: Caller, row_id: Any) -> tuple[str | None, str]:
    """The reason and the due time, of which list and single view say the same."""
    one = operator.get(f"{NOTIFICATIONS}/{row_id}").json()
    [listed] = [row for row in operator.get().json()["results"] if row["id"] == str(row_id)]
    assert (listed["waitingReason"], listed["dueAt"]) == (one["waitingReason"], one["dueAt"])
    return one["waitingReason"], one["dueAt"]


def test_due__new_or_after_a_backoff__waits_for_a_provider_until_the_next_call(operator: Caller) -> None:
    fresh, failed = add(2)
    Notification.objects.filter(pk=failed).update(waiting_reason=WaitingReason.RETRY_BACKOFF)
    probe_at = fails(Channel.EMAIL, "a")
    assert [shown(operator, pk)[0] for pk in (fresh, failed)] == [None, "RETRY_BACKOFF"]

    fails(Channel.EMAIL, "b:x")

    assert [shown(operator, pk) for pk in (fresh, failed)] == [(UNAVAILABLE, probe_at)] * 2
    assert set(Notification.objects.values_list("waiting_reason", flat=True)) == {"", "RETRY_BACKOFF"}


def test_due__every_provider_tripped__names_no_time_to_come(operator: Caller) -> None:
    [row_id] = add(1, channel=Channel.SMS)
    _, due_at = shown(operator, row_id)

    services.trip_breaker("SMS", "a", by="ada")
    assert shown(operator, row_id) == (UNAVAILABLE, due_at)

    services.reset_breaker("SMS", "a", by="ada")
    assert shown(operator, row_id) == (None, due_at)


def test_due__the_only_provider_rests__waits_for_it(operator: Caller) -> None:
    [row_id] = add(1, channel=Channel.SMS)
    queue.throttle("a", 60)
    assert shown(operator, row_id)[0] == UNAVAILABLE


def test_due__inbox_tripped__waits_for_it(operator: Caller, settings: Any) -> None:
    chains = settings.NOTIFYQ.provider_chains | {Channel.IN_APP: ("inbox",)}
    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, provider_chains=chains)
    [row_id] = add(1, channel=Channel.IN_APP)
    services.trip_breaker("IN_APP", "inbox", by="ada")
    assert shown(operator, row_id)[0] == UNAVAILABLE


def test_due__devices_of_another_platform__do_not_wait(operator: Caller, settings: Any) -> None:
    chains = settings.NOTIFYQ.provider_chains | {Channel.PUSH: ("fcm", "apns")}
    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, provider_chains=chains)
    [phone], [tablet] = (add(1, channel=Channel.PUSH, recipient=to) for to in ("fcm:token", "apns:00ff"))
    fails(Channel.PUSH, "fcm")
    assert [shown(operator, pk)[0] for pk in (phone, tablet)] == [UNAVAILABLE, None]


@pytest.mark.parametrize(
    "fields",
    [
        {"waiting_reason": WaitingReason.SCHEDULED, "due_at": Now() + timedelta(hours=1)},
        {"waiting_reason": WaitingReason.PAUSED, "parked_by": "01939393-0000-7000-8000-000000000000"},
    ],
)
def test_waiting__for_something_else__keeps_its_reason(operator: Caller, fields: dict[str, Any]) -> None:
    [row_id] = add(1, channel=Channel.SMS)
    Notification.objects.filter(pk=row_id).update(**fields)
    fails(Channel.SMS, "a")
    assert shown(operator, row_id)[0] == fields["waiting_reason"]


def test_due__all_that_is_left_is_paused__is_no_outage(operator: Caller) -> None:
    [row_id] = add()
    fails(Channel.EMAIL, "a")
    services.pause("PROVIDER", "b:x", by="ada")
    assert shown(operator, row_id)[0] == UNAVAILABLE

    services.pause("PROVIDER", "a", by="ada")
    assert shown(operator, row_id)[0] is None


def test_list__in_an_outage__takes_the_same_few_queries_for_any_number(operator: Caller) -> None:
    services.trip_breaker("SMS", "a", by="ada")
    operator.get()  # notes that its key is used
    counts = []
    for count in (1, 30):
        add(count, channel=Channel.SMS)
        with CaptureQueriesContext(connection) as queries:
            rows = operator.get().json()["results"]
        assert {row["waitingReason"] for row in rows} == {UNAVAILABLE}
        counts.append(len(queries))
    assert counts == [4, 4]  # the key, the page, and two for the outage


def test_answers__to_acts_on_one__say_so_too(operator: Caller) -> None:
    [row_id] = add(1, channel=Channel.SMS)
    services.trip_breaker("SMS", "a", by="ada")
    answer = operator.post(f"{NOTIFICATIONS}/{row_id}/reschedule", {"delaySeconds": 0})
    assert (answer.status_code, answer.json()["waitingReason"]) == (200, UNAVAILABLE)


def test_console__list_and_its_filter__go_by_what_is_shown(settings: Any) -> None:
    chains = settings.NOTIFYQ.provider_chains | {Channel.PUSH: ("fcm", "apns")}
    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, provider_chains=chains)
    [due], [phone] = add(1, channel=Channel.SMS), add(1, channel=Channel.PUSH, recipient="fcm:token")
    [failed], [bound] = add(1, channel=Channel.SMS), add()
    others = [add(1, channel=Channel.PUSH, recipient="apns:00ff"), add(1)]
    [backed_off] = add(1, channel=Channel.SMS)
    Notification.objects.filter(pk=bound).update(unconfirmed_provider="a", unconfirmed_at=Now())
    Notification.objects.filter(pk__in=[failed, backed_off]).update(waiting_reason=WaitingReason.RETRY_BACKOFF)
    Notification.objects.filter(pk=backed_off).update(due_at=Now() + timedelta(hours=1))
    browser = person(Role.OPERATOR)
    assert listed(browser, UNAVAILABLE) == {}
    assert set(listed(browser, "RETRY_BACKOFF")) == {failed, backed_off}

    for channel, name in ((Channel.SMS, "a"), (Channel.EMAIL, "a"), (Channel.PUSH, "fcm")):
        fails(channel, name)

    assert listed(browser, UNAVAILABLE) == dict.fromkeys((due, phone, failed, bound), UNAVAILABLE)
    assert listed(browser, "RETRY_BACKOFF") == {backed_off: "RETRY_BACKOFF"}
    assert set(listed(browser, "")) >= {pk for [pk] in others}


def listed(browser: Client, reason: str) -> dict[UUID, str]:
    """The reasons that the console's list shows, by id. An act on everything with that reason would be on the same."""
    answer = browser.get("/admin/notifications/notification/", {"waiting_reason": reason} if reason else {})
    found = {row.pk: row.waiting_reason for row in answer.context["cl"].result_list}
    if reason:
        preview = browser.get("/admin/bulk/preview/", {"act": "cancel", "waiting_reason": reason}).context["preview"]
        assert preview.count.total == len(found)
    return found


def test_console__page_of_one_that_is_due__says_what_it_waits_for() -> None:
    [row_id] = add(1, channel=Channel.SMS)
    services.trip_breaker("SMS", "a", by="ada")

    page = person(Role.OPERATOR).get(f"/admin/notifications/notification/{row_id}/change/").content

    assert "provider unavailable" in words_of(page)
    assert "goes on when an operator resets the breaker" in words_of(page)
