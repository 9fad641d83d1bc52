"""The acts on what is ticked in the list of notifications: previewed, once, recorded, and only by operators."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext

from notifications import services
from notifications.admin.matching import bulk_links
from notifications.admin.ticked.page import TICKED_MOST
from notifications.models import Notification, OperatorAction
from notifications.status import Status, WaitingReason
from notifications.story.acts import Deed
from notifyq.roles import Role
from notifyq.runtime.instants import rfc3339
from tests.support.console import person, words_of
from tests.support.factories import NotificationFactory, ago

pytestmark = pytest.mark.django_db
LIST = "/admin/notifications/notification/"
ACT = f"{LIST}act/"
HELD = {"status": Status.DEAD_LETTERED, "last_error_code": "UNCONFIRMED", "unconfirmed_provider": "sandbox"}
NEVER = "01a22cbf-5d05-7797-8b38-3cc29ff8d9c8"
BEGINS: dict[Deed, dict[str, Any]] = {
    Deed.RETRY: {"status": Status.FAILED},
    Deed.CANCEL: {"status": Status.PENDING},
    Deed.RESCHEDULE: {"status": Status.PENDING},
    Deed.RESOLVE_SENT: HELD,
    Deed.RESOLVE_FAILED: HELD,
}
ENDS = {
    Deed.RETRY: ("RETRY", Status.PENDING),
    Deed.CANCEL: ("CANCEL", Status.CANCELLED),
    Deed.RESCHEDULE: ("RESCHEDULE", Status.PENDING),
    Deed.RESOLVE_SENT: ("RESOLVE", Status.SENT),
    Deed.RESOLVE_FAILED: ("RESOLVE", Status.FAILED),
}
DEEDS = pytest.mark.parametrize("deed", list(Deed))


@pytest.fixture
def console() -> Client:
    return person(Role.OPERATOR, "ops")


def ticked(deed: Deed, *rows: Notification | str, **more: Any) -> dict[str, Any]:
    """The form of the list."""
    return {"act": deed.value, "row": [row if isinstance(row, str) else str(row.pk) for row in rows], **more}


def confirmed(deed: Deed, *rows: Notification, **more: Any) -> dict[str, Any]:
    """The form of the preview, of rows on which nobody has acted yet."""
    asked = {"delay": "2", "unit": "3600"} if deed is Deed.RESCHEDULE else {}
    return {
        "act": deed.value,
        "row": [f"{row.pk}:0" for row in rows],
        "confirmed": "yes",
        "reason": "wrong price",
        **asked,
        **more,
    }


def send(console: Client, form: dict[str, Any]) -> str:
    return words_of(console.post(ACT, form, follow=True).content)


def statuses(*rows: Notification) -> list[str]:
    found = dict(Notification.objects.values_list("pk", "status"))
    return [found[row.pk] for row in rows]


@DEEDS
def test_ticked__confirmed__is_done_once_and_recorded_with_who_and_why(console: Client, deed: Deed) -> None:
    rows = NotificationFactory.create_batch(3, **BEGINS[deed])
    form = confirmed(deed, *rows, back="status=PENDING&channel__exact=EMAIL")
    action, status = ENDS[deed]

    answer = console.post(ACT, form, follow=True)
    again = send(console, form)

    assert answer.redirect_chain == [(f"{LIST}?status=PENDING&channel__exact=EMAIL", 302)]
    assert "done for 3 of 3" in words_of(answer.content)
    assert "3 left alone: since you opened the page, ops has acted on it" in again
    assert statuses(*rows) == [status] * 3
    acts = OperatorAction.objects.values_list("notification", "action", "actor_kind", "actor", "reason")
    assert sorted(acts) == sorted((row.pk, action, "USER", "ops", "wrong price") for row in rows)
    outcomes = OperatorAction.objects.values_list("details__outcome", flat=True)
    assert list(outcomes) == [status if action == "RESOLVE" else None] * 3


@pytest.mark.parametrize("role", list(Role))
def test_ticked__by_role__only_operators_may_do_any_of_it(role: Role) -> None:
    rows = {deed: NotificationFactory(**BEGINS[deed]) for deed in Deed}
    browser = person(role)
    may = role is not Role.VIEWER

    asked = {browser.get(ACT, ticked(deed, row)).status_code for deed, row in rows.items()}
    done = {browser.post(ACT, confirmed(deed, row)).status_code for deed, row in rows.items()}

    assert (asked, done) == (({200}, {302}) if may else ({403}, {403}))
    assert OperatorAction.objects.count() == (len(rows) if may else 0)
    assert statuses(*rows.values()) == [ENDS[deed][1] if may else BEGINS[deed]["status"] for deed in rows]


def test_ticked__by_get_with_all_that_a_confirmed_form_has__only_asks(console: Client) -> None:
    for deed in Deed:
        assert console.get(ACT, confirmed(deed, NotificationFactory(**BEGINS[deed]))).status_code == 200

    assert console.put(ACT).status_code == 405
    assert not OperatorAction.objects.exists()


def test_preview__of_a_mixture__counts_what_can_be_done_and_says_why_not_the_rest(console: Client) -> None:
    waiting = NotificationFactory.create_batch(2, recipient="ada@example.com")
    in_doubt = NotificationFactory(unconfirmed_provider="sandbox")
    sent = NotificationFactory.create_batch(2, status=Status.SENT)

    answer = console.post(ACT, ticked(Deed.CANCEL, *waiting, in_doubt, *sent, NEVER, "no id"))
    page = words_of(answer.content)

    assert "Cancel 2 notifications" in page
    assert "ada@example.com" in page
    assert "4 of the ticked are left alone:" in page
    assert "<li>2: it is SENT" in page
    assert "<li>1: an earlier attempt may have been sent" in page
    assert "<li>1: it is not there any more" in page
    assert page.count('name="row"') == 2
    assert not OperatorAction.objects.exists()


@pytest.mark.parametrize(
    ("deed", "columns", "why"),
    [
        (Deed.RETRY, {"status": Status.FAILED, "expires_at": ago(1)}, "its time to live is over; on its own page"),
        (Deed.RESCHEDULE, {"send_at": ago(9), "expires_at": ago(1)}, "its time to live is over"),
        (Deed.RESOLVE_SENT, {"status": Status.DEAD_LETTERED}, "it is not held as unconfirmed"),
        (Deed.RETRY, {"status": Status.PROCESSING}, "it is PROCESSING"),
    ],
)
def test_preview__of_what_cannot_be_done__says_why(
    console: Client, deed: Deed, columns: dict[str, Any], why: str
) -> None:
    page = send(console, ticked(deed, NotificationFactory(**columns)))

    assert f"<li>1: {why}" in page
    assert "Nothing is left to do" in page


def test_preview__of_one_who_may_not_see_recipients__masks_them() -> None:
    blind = person(Role.VIEWER)
    User.objects.get().user_permissions.add(Permission.objects.get(codename="operate_notification"))

    page = words_of(blind.post(ACT, ticked(Deed.CANCEL, NotificationFactory(recipient="ada@example.com"))).content)

    assert "a…@example.com" in page
    assert "ada@example.com" not in page


def test_cancel__one_has_left_meanwhile__stops_no_other(console: Client) -> None:
    rows = NotificationFactory.create_batch(3)
    services.cancel(rows[0].pk, rows[0].client)  # its client was quicker
    Notification.objects.filter(pk=rows[1].pk).update(unconfirmed_provider="sandbox")

    page = send(console, confirmed(Deed.CANCEL, *rows))

    assert "Cancel: done for 1 of 3." in page
    assert "1 left alone: it is CANCELLED by now." in page
    assert "1 left alone: an earlier attempt may have been sent" in page
    assert OperatorAction.objects.get().notification_id == rows[2].pk


def test_reschedule__by_a_delay__gives_all_the_same_time(console: Client) -> None:
    rows = NotificationFactory.create_batch(3)

    send(console, confirmed(Deed.RESCHEDULE, *rows, delay="2", unit="3600"))

    [(send_at, due_at)] = set(Notification.objects.values_list("send_at", "due_at"))
    assert send_at == due_at
    assert abs(send_at - datetime.now(UTC) - timedelta(hours=2)) < timedelta(minutes=1)


def test_reschedule__sent_twice__moves_them_once(console: Client) -> None:
    row = NotificationFactory()
    at, before = ago(-86_400).replace(second=0, microsecond=0), row.send_at
    first = confirmed(Deed.RESCHEDULE, row, at=f"{at:%Y-%m-%dT%H:%M}", delay="")
    send(console, first)

    send(console, first | {"at": "", "delay": "3"})  # another window, opened before

    row.refresh_from_db()
    assert row.send_at == at
    assert OperatorAction.objects.get().details == {"sendAt": rfc3339(at), "previousSendAt": rfc3339(before)}


def test_reschedule__past_the_time_to_live_of_some__is_asked_again_before_fewer_are_done(console: Client) -> None:
    long, short = NotificationFactory(), NotificationFactory(expires_at=ago(-60))
    form = confirmed(Deed.RESCHEDULE, long, short)

    asked = send(console, form)

    assert "1 of them would be past their time to live by then" in asked
    assert "Reschedule 1 notification" in asked
    assert 'name="late" value="1"' in asked
    assert 'value="wrong price"' in asked
    assert not OperatorAction.objects.exists()
    said = send(console, form | {"late": "1"})
    assert "Reschedule: done for 1 of 2." in said
    assert "1 left alone: its time to live stands against it." in said


def test_reschedule__past_the_time_to_live_of_all__asks_for_another_time(console: Client) -> None:
    form = confirmed(Deed.RESCHEDULE, NotificationFactory(expires_at=ago(-60)), late="1")

    assert "All of them would be past their time to live" in send(console, form)
    assert "done for 1 of 1" in send(console, form | {"delay": "5", "unit": "1"})


@pytest.mark.parametrize(
    ("deed", "wrong", "said"),
    [
        (Deed.CANCEL, {"reason": ""}, "Please give a reason."),
        (Deed.CANCEL, {"reason": "x" * 501}, "reason must be at most 500"),
        (Deed.RESCHEDULE, {"delay": ""}, "Give either a time or a delay."),
        (Deed.RESCHEDULE, {"at": "2027-01-01T08:00"}, "Give either a time or a delay."),
        (Deed.RESCHEDULE, {"at": "soon", "delay": ""}, "“At” must be a date and a time"),
        (Deed.RESCHEDULE, {"at": "2999-01-01T08:00", "delay": ""}, "“At” must be at most 366 days ahead."),
        (Deed.RESCHEDULE, {"unit": "7"}, "Choose the unit of the delay."),
    ],
)
def test_ticked__form_that_does_not_say_all__is_asked_again_with_what_was_typed(
    console: Client, deed: Deed, wrong: dict[str, str], said: str
) -> None:
    page = send(console, confirmed(deed, *NotificationFactory.create_batch(2), **wrong))

    assert said in page
    assert page.count('name="row"') == 2
    assert f'value="{wrong.get("reason", "wrong price")}"' in page
    assert deed is Deed.CANCEL or not wrong.get("at") or f'value="{wrong["at"]}"' in page
    assert not OperatorAction.objects.exists()


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"act": "cancel"}, "tick at least one notification"),
        ({"act": "cancel", "row": ["x", f"{NEVER}:-1", "1"]}, "tick at least one notification"),
        ({"act": "delete", "row": NEVER}, "say what to do with them"),
        ({"act": "cancel", "row": [str(UUID(int=n)) for n in range(TICKED_MOST + 1)]}, f"tick at most {TICKED_MOST}"),
    ],
)
def test_ticked__not_readable_or_too_many__does_nothing_and_says_so(
    console: Client, form: dict[str, Any], said: str
) -> None:
    page = console.post(ACT, form | {"confirmed": "yes", "reason": "x", "back": "https://evil.example"}, follow=True)

    assert page.redirect_chain[0][0].split("?")[0] == LIST
    assert f"Nothing was done: {said}" in words_of(page.content)


def test_ticked__same_row_many_times__is_one(console: Client) -> None:
    row = NotificationFactory()

    assert "done for 1 of 1" in send(console, confirmed(Deed.CANCEL, row, row, row))


def queries(console: Client, form: dict[str, Any]) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        console.post(ACT, form)
    return len(seen)


def test_ticked__by_number_of_queries__the_preview_has_few_and_each_act_the_same(console: Client) -> None:
    few, many = NotificationFactory.create_batch(2), NotificationFactory.create_batch(12)

    previews = [queries(console, ticked(Deed.CANCEL, *rows)) for rows in (few, many)]
    acts = [queries(console, confirmed(Deed.CANCEL, *rows)) for rows in (few, many)]

    assert previews[0] == previews[1] <= 8
    assert divmod(acts[1] - acts[0], 10) <= (14, 0)


def offered(console: Client, query: str = "") -> tuple[list[str], int]:
    """The acts, and how many rows can be ticked."""
    answer = console.get(f"{LIST}?{query}")
    bar = answer.context["ticked"]
    return [name for name, _ in bar["acts"]] if bar else [], answer.content.decode().count('name="row"')


def test_list__by_the_status_that_is_shown__offers_what_can_be_done(console: Client) -> None:
    for columns in ({}, {"status": Status.SENT}, {"status": Status.FAILED}, HELD):
        NotificationFactory(**columns)

    assert offered(console) == (["retry", "cancel", "reschedule", "resolve-sent", "resolve-failed"], 4)
    assert offered(console, "status=PENDING") == (["cancel", "reschedule"], 1)
    assert offered(console, "status=FAILED") == (["retry"], 1)
    assert offered(console, "status=DEAD_LETTERED") == (["retry", "resolve-sent", "resolve-failed"], 1)
    Notification.objects.filter(status=Status.DEAD_LETTERED).update(last_error_code="x", unconfirmed_provider="")
    assert offered(console, "status=DEAD_LETTERED") == (["retry"], 1)  # nothing of it is held
    assert offered(console, "status=SENT") == ([], 0)
    assert offered(console, "status=CANCELLED") == ([], 0)


def test_list__of_a_viewer__has_nothing_to_tick(console: Client) -> None:
    NotificationFactory()

    assert offered(person(Role.VIEWER)) == ([], 0)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"Act on everything that matches…": ""}),
        ("status=PENDING&p=2", {"Cancel or reschedule everything that matches…": "act=cancel&status=PENDING"}),
        (
            "status=FAILED&channel__exact=SMS&error_code=+timeout&provider=a",
            {"Retry everything that matches…": "act=retry&status=FAILED&channel=SMS&error_code=timeout&provider=a"},
        ),
        (
            "status=DEAD_LETTERED",
            {
                "Retry everything that matches…": "act=retry&status=DEAD_LETTERED",
                "Mark everything that matches as sent…": "act=resolve-sent&status=DEAD_LETTERED",
                "Mark everything that matches as not delivered…": "act=resolve-failed&status=DEAD_LETTERED",
            },
        ),
        (
            f"client__id__exact={NEVER}&reference=order-1",
            {"Act on everything that matches…": f"client={NEVER}&reference=order-1"},
        ),
        (
            "waiting_reason=PAUSED&channel__exact=SMS",
            {
                "Cancel or reschedule everything that matches…": (
                    "act=cancel&waiting_reason=PAUSED&channel=SMS&status=PENDING"
                )
            },
        ),
        ("waiting_reason=PAUSED&status=SENT", {}),  # none of them waits
        ("waiting_reason=PAUSED&created=hour", {}),
        ("status=SENT", {}),
        ("status=PENDING&q=ada", {}),
        ("status=PENDING&priority__exact=1", {}),
        ("created=hour", {}),
    ],
)
def test_list__all_that_matches__is_handed_on_where_it_means_the_same(query: str, expected: dict[str, str]) -> None:
    found = bulk_links(QueryDict(query), list(Deed))

    assert dict(found) == {label: f"/admin/bulk/preview/?{asked}" for label, asked in expected.items()}


def test_list__all_that_matches__leads_to_a_preview_of_just_those(console: Client) -> None:
    waiting = {"waiting_reason": WaitingReason.RETRY_BACKOFF, "due_at": ago(-60)}
    rows = [NotificationFactory(channel=channel, **waiting) for channel in ("SMS", "SMS", "EMAIL")]
    NotificationFactory(channel="SMS", client=rows[0].client)
    asked = f"waiting_reason=RETRY_BACKOFF&channel__exact=SMS&client__id__exact={rows[0].client_id}"
    [(_, address)] = console.get(f"{LIST}?{asked}").context["ticked"]["bulk"]

    answer = console.get(address)

    assert answer.context["preview"].count.total == 1
    assert answer.context["preview"].sample == rows[:1]
    assert "What each waits for changes by itself" in words_of(answer.content)


def test_list__marks_of_all_that_match__are_offered_only_where_something_is_held(console: Client) -> None:
    for columns, count in ((HELD, 3), ({"last_error_code": "x", "unconfirmed_provider": ""}, 1)):
        NotificationFactory(**HELD | columns)
        assert len(console.get(f"{LIST}?status=DEAD_LETTERED").context["ticked"]["bulk"]) == count
        Notification.objects.all().delete()
