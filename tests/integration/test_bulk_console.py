"""The console's pages for acts on everything that matches: who may, what is shown, and that each form acts once."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, Permission
from django.core import signing
from django.db import connection
from django.urls import reverse

from notifications import queue
from notifications.admin import bulk_confirmation
from notifications.models import BulkAct, BulkAction, BulkStatus, Notification
from notifications.queue import bulk_preview
from notifications.status import Status
from notifyq.roles import Role
from tests.support.bulk import let_pass
from tests.support.console import fields_of, words_of
from tests.support.factories import ClientFactory, NotificationFactory, ago

pytestmark = pytest.mark.django_db
RECIPIENT = "ada.private@example.org"
IN_A_MONTH = f"{ago(-30 * 86_400):%Y-%m-%d}"
PREVIEW, BEGIN, LIST = (reverse(f"admin:bulk-{name}") for name in ("preview", "begin", "list"))


def person(client, users, role):
    user = users.objects.create(username=role.value, is_staff=True)
    user.groups.add(Group.objects.get(name=role.value))
    client.force_login(user)
    return client


@pytest.fixture
def operator(client, django_user_model):
    return person(client, django_user_model, Role.OPERATOR)


@pytest.fixture
def viewer(client, django_user_model):
    return person(client, django_user_model, Role.VIEWER)


def dead(count=1, **columns):
    columns.setdefault("client", ClientFactory())
    return NotificationFactory.create_batch(
        count, status=Status.DEAD_LETTERED, finished_at=columns.pop("finished_at", ago(60)), **columns
    )


def look(browser, /, **query):
    answer = browser.get(PREVIEW, {"act": "retry"} | query, follow=True)
    assert answer.status_code == 200
    return answer


def confirm(client, answer, /, **values):
    form = fields_of(answer.content, "data-looked-at")
    return client.post(BEGIN, form | {"reason": "the relay is back", "rate": "100"} | values)


def address(name, act=None):
    return reverse(f"admin:bulk-{name}", args=[act.pk] if act else [])


def test_preview__filter__counts_exactly_and_shows_ten_and_changes_nothing(operator):
    dead(12, channel="SMS")
    dead(2, channel="SMS", expires_at=ago(1))
    dead(1, channel="SMS", last_error_code="UNCONFIRMED", unconfirmed_provider="sandbox")
    dead(3)
    before = list(Notification.objects.order_by("pk").values())

    answer = look(operator, channel="SMS")

    count = answer.context["preview"].count
    assert (count.total, count.actionable, count.out_of_time, count.unsure) == (15, 12, 2, 1)
    assert len(answer.context["sample"]) == 10
    assert "Retry 12 notifications" in answer.content.decode()
    assert list(Notification.objects.order_by("pk").values()) == before
    assert not BulkAct.objects.exists()


@pytest.mark.parametrize(
    ("act", "button", "effect"),
    [
        ("resolve-sent", "Mark 2 notifications as sent", "This cannot be undone. Do it only when"),
        ("resolve-failed", "Mark 2 notifications as not delivered", "They become FAILED"),
    ],
)
def test_preview__of_a_mark__says_what_happens_to_which_and_is_done_once(operator, act, button, effect):
    unsure = {"last_error_code": "UNCONFIRMED", "unconfirmed_provider": "sandbox"}
    dead(2, **unsure)
    dead(1)

    answer, tab = look(operator, act=act), look(operator, act=act)
    page = words_of(answer.content)
    begun = [confirm(operator, each).url for each in (answer, answer, tab)]

    count = answer.context["preview"].count
    assert (count.total, count.actionable, count.known) == (3, 2, 1)
    assert button in page
    assert effect in page
    assert "1 is left alone: it is not held as unconfirmed" in page
    assert "may get it twice.</p>" not in page
    [stored] = BulkAct.objects.all()
    assert set(begun) == {address("act", stored)}
    assert stored.action == act.upper().replace("-", "_")
    shown = words_of(operator.get(begun[0]).content)
    assert button.replace("2 notifications", "every notification that matches") in shown
    assert button.replace("2 ", "") in words_of(operator.get(LIST).content)


@pytest.mark.parametrize("unsure", ["", "1"])
def test_preview__those_that_may_have_been_sent__only_when_asked_for(operator, unsure):
    dead(1, last_error_code="UNCONFIRMED", unconfirmed_provider="sandbox")

    answer = look(operator, unsure=unsure)

    assert answer.context["preview"].count.actionable == len(unsure)
    assert ("may get it twice</p>" in " ".join(answer.content.decode().split()).replace(".", "")) is bool(unsure)


def test_preview__every_parameter_of_a_link__is_understood(operator):
    client = ClientFactory(name="Shop")
    [row] = dead(1, client=client, recipient=RECIPIENT, reference="order-7", finished_at=ago(60))
    dead(1, client=client, recipient=RECIPIENT, reference="order-8", finished_at=ago(60))
    link = {
        "status": "DEAD_LETTERED",
        "channel": "EMAIL",
        "provider": "sandbox",
        "error_code": "a_reason",
        "client": str(client.pk),
        "recipient": RECIPIENT.replace("example", "EXAMPLE"),
        "reference": "order-7",
        "after": ago(90).isoformat(),
        "before": ago(30).strftime("%Y-%m-%d %H:%M:%S"),
    }

    assert [shown.pk for shown, *_ in look(operator, **link).context["sample"]] == [row.pk]
    assert look(operator, **link | {"client": "Shop"}).context["preview"].count.total == 1
    assert look(operator, **link | {"after": ago(30).isoformat(), "before": ""}).context["preview"].count.total == 0


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"act": "explode"}, "act"),
        ({"act": "cancel", "status": "FAILED"}, "status"),
        ({"status": "PENDING"}, "status"),
        ({"act": "resolve-sent", "status": "FAILED"}, "status"),
        ({"waiting_reason": "PAUSED"}, "waiting_reason"),
        ({"act": "cancel", "waiting_reason": "BOREDOM"}, "waiting_reason"),
        ({"channel": "FAX"}, "channel"),
        ({"client": "nobody"}, "client"),
        ({"recipient": "nobody"}, "recipient"),
        ({"after": "yesterday"}, "after"),
        ({"after": "2026-01-02", "before": "2026-01-01"}, "before"),
        ({"act": "reschedule"}, "send_at"),
        ({"act": "reschedule", "send_at": "9999-12-31"}, "send_at"),
        ({"act": "reschedule", "send_at": "0001-01-01"}, "send_at"),
        ({"error_code": "x" * 300}, "error_code"),
        ({"reference": "a\x00b"}, "reference"),
    ],
)
def test_preview__wrong_value__is_told_at_its_field(operator, query, field):
    answer = look(operator, **query)

    assert list(answer.context["errors"]) == [field]
    assert f'id="error_{field}"' in answer.content.decode()
    assert "confirmation" not in answer.content.decode()


def test_preview__hostile_text__is_escaped(operator):
    evil = '"><script>alert(1)</script>'
    dead(1, last_error_code=evil[:64], reference=evil)

    for query in ({"error_code": evil}, {"reference": evil}, {"after": evil}, {}):
        assert "<script>alert" not in look(operator, **query).content.decode()


def test_preview__counting_takes_too_long__says_so_and_can_be_begun(operator, monkeypatch):
    dead(1)
    monkeypatch.setattr(queue, "count_bulk", lambda selection, cutoff: None)

    answer = look(operator)
    page = confirm(operator, answer)

    assert "Counting took longer than five seconds" in answer.content.decode()
    assert BulkAct.objects.get().previewed_count is None
    assert "could not be counted" in operator.get(page.url).content.decode()


def test_count__too_slow__is_broken_off():
    selection = queue.BulkSelection(action=BulkAction.RETRY, status=Status.DEAD_LETTERED)
    with bulk_preview.given_up_after(0.01) as outcome, connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(5)")
        outcome.append("never")

    assert outcome == []
    assert queue.count_bulk(selection, ago(0)).total == 0


def test_begin__confirmed__stores_what_was_shown_and_leads_to_its_progress(operator):
    dead(3, channel="SMS")
    answer = look(operator, channel="SMS")
    dead(1, channel="SMS", finished_at=ago(-5))  # after the look

    page = confirm(operator, answer, rate="250")

    act = BulkAct.objects.get()
    assert page.url == address("act", act)
    assert (act.action, act.previewed_count, act.rate_per_second) == ("RETRY", 3, 250)
    assert (act.actor_kind, act.actor, act.reason) == ("USER", "operator", "the relay is back")
    assert act.cutoff == answer.context["preview"].cutoff
    let_pass(act, 1.0)
    assert queue.work_off(2.0) == 3
    progress = operator.get(page.url).content.decode()
    assert re.search(r'<progress [^>]*max="3" value="3"', progress)


def test_begin__the_same_form_twice_and_a_second_tab__is_one_act(operator):
    dead(3)
    answer, tab = look(operator), look(operator)

    pages = [confirm(operator, each).url for each in (answer, answer, tab)]

    assert len(set(pages)) == 1
    act = BulkAct.objects.get()
    let_pass(act, 1.0)
    queue.work_off(2.0)
    assert BulkAct.objects.get().status == BulkStatus.DONE
    assert confirm(operator, answer).url == pages[0]  # also when it is over
    assert BulkAct.objects.count() == 1


@pytest.mark.parametrize(
    ("values", "field"),
    [({"reason": " "}, "reason"), ({"reason": "x" * 501}, "reason")]
    + [({"rate": rate}, "rate") for rate in ("0", "1001", "-1", "many", "1.5", "9" * 40)],
)
def test_begin__reason_or_rate_is_wrong__asks_again_with_the_same_form(operator, values, field):
    dead(1)
    answer = look(operator)

    again = confirm(operator, answer, **values)

    assert again.status_code == 200
    assert list(again.context["errors"]) == [field]
    assert f'id="error_{field}"' in again.content.decode()
    assert not BulkAct.objects.exists()
    confirm(operator, again)
    confirm(operator, answer)
    assert BulkAct.objects.count() == 1


@pytest.mark.parametrize("change", ["client", "channel", "unsure", "reference", "after", "act"])
def test_begin__filter_was_changed_and_not_looked_at__does_nothing_and_shows_what_it_matches(operator, change):
    shop = ClientFactory()
    dead(2, channel="SMS")
    dead(1, channel="SMS", client=shop)
    other = {"client": str(shop.pk), "channel": "EMAIL", "unsure": "1", "reference": "x", "after": "2026-01-01T00:00"}
    changed = {change: other.get(change, "cancel")}

    answer = confirm(operator, look(operator, channel="SMS"), reason="typed before", rate="7", **changed)

    assert answer.status_code == 200
    assert "Nothing was done: the filter was changed" in words_of(answer.content)
    assert not BulkAct.objects.exists()
    fields = fields_of(answer.content, "data-looked-at")
    assert fields[change] == changed[change]
    if change == "client":
        assert "Retry 1 notification<" in words_of(answer.content)
        assert (fields["reason"], fields["rate"]) == ("typed before", "7")
        confirm(operator, answer)
        assert BulkAct.objects.get().selection["client_id"] == str(shop.pk)


def test_begin__without_the_filter_s_fields_or_with_a_wrong_one__does_nothing(operator):
    dead(1)
    form = fields_of(look(operator).content, "data-looked-at")

    bare = operator.post(BEGIN, {"confirmation": form["confirmation"], "reason": "x", "rate": "1"})
    wrong = operator.post(BEGIN, form | {"reason": "x", "after": "soon"})

    assert list(bare.context["errors"]) == ["act"]
    assert list(wrong.context["errors"]) == ["after"]
    assert not BulkAct.objects.exists()


@pytest.mark.parametrize(
    "query",
    [{"client": "Shop"},
     {"recipient": RECIPIENT.replace("example", "EXAMPLE")},
     {"after": "2026-01-02 08:30"}, {"after": "2026-01-02"},
     {"before": "2036-01-02T08:30:05.25+02:00"}, {"unsure": "yes"}, {"act": "reschedule", "send_at": IN_A_MONTH},
     {"act": "CANCEL", "channel": "email"}, {"act": "cancel", "waiting_reason": "retry_backoff"},
     {"act": "resolve-sent", "error_code": "UNCONFIRMED"}, {"act": "RESOLVE_FAILED"},
     {"error_code": "a_reason", "provider": "sandbox"}],
)  # fmt: skip
def test_begin__every_filter_as_it_was_looked_at__is_begun(operator, query):
    owner = ClientFactory(name="Shop")
    dead(1, client=owner, recipient=RECIPIENT)
    dead(1, client=owner, last_error_code="UNCONFIRMED")
    NotificationFactory(client=owner, recipient=RECIPIENT, waiting_reason="RETRY_BACKOFF", due_at=ago(-60))

    answer = confirm(operator, look(operator, **query))

    assert answer.status_code == 302
    assert BulkAct.objects.count() == 1


def test_preview__by_those_who_may_not_see_recipients__keeps_what_was_searched_for_sealed(client, django_user_model):
    dead(1, recipient=RECIPIENT)
    user = django_user_model.objects.create(username="half", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="operate_notification"))
    client.force_login(user)

    answer = look(client, recipient=RECIPIENT)

    assert answer.context["preview"].count.total == 1
    assert RECIPIENT not in answer.content.decode()
    assert confirm(client, answer).status_code == 302


@pytest.mark.parametrize("forged", ["", "x", "another's"])
def test_begin__form_that_is_not_ours__does_nothing(operator, forged):
    confirmation = signing.dumps({"form": str(uuid4())}) if forged == "another's" else forged
    page = operator.post(BEGIN, {"confirmation": confirmation, "reason": "x"}, follow=True)

    assert "nothing was done" in page.content.decode()
    assert not BulkAct.objects.exists()


def test_begin__form_is_an_hour_old__asks_to_look_again(operator, monkeypatch):
    dead(1)
    answer = look(operator)
    monkeypatch.setattr(bulk_confirmation, "OLD_SECONDS", -1)

    assert confirm(operator, answer).url == PREVIEW
    assert not BulkAct.objects.exists()


def test_preview__without_sight_of_private_data__masks_the_sample(client, django_user_model):
    dead(1, recipient=RECIPIENT)
    user = django_user_model.objects.create(username="half", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="operate_notification"))
    client.force_login(user)

    page = look(client).content.decode()

    assert RECIPIENT not in page
    assert "a…@example.org" in page


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("", 'type="datetime-local" step="1" value=""'),
        ("2026-01-31", 'type="datetime-local" step="1" value="2026-01-31T00:00"'),
        ("2026-01-31 08:30", 'type="datetime-local" step="1" value="2026-01-31T08:30"'),
        ("2026-01-31T08:30:05Z", 'type="datetime-local" step="1" value="2026-01-31T08:30:05"'),
        ("2026-01-31T08:30:05.25+02:00", 'type="text" value="2026-01-31T08:30:05.25+02:00"'),
        ("soon", 'type="text" value="soon"'),
    ],
)
def test_form__an_instant__is_shown_so_that_looking_again_loses_nothing(operator, given, shown):
    page = look(operator, after=given).content.decode()

    assert f'<input id="id_after" name="after" {shown}' in page
