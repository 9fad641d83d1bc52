"""Pauses as people at the console and at the shell are told of them: once, by name, and what came of it."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.test import Client as Browser
from django.urls import reverse

from notifications import selectors, services
from notifications.admin import pause as page
from notifications.models import Client, ControlAct, Pause
from notifyq.roles import Role
from tests.support.console import fields_of, person, words_of
from tests.support.factories import ClientFactory

pytestmark = pytest.mark.django_db
LIST, ADD = (reverse(f"admin:notifications_pause_{name}") for name in ("changelist", "add"))
ACTS = reverse("admin:notifications_controlact_changelist")


@pytest.fixture
def operator() -> Browser:
    return person(Role.OPERATOR, "bea")


@pytest.fixture
def billing() -> Client:
    return ClientFactory(name="billing")


def add(browser: Browser, scope: str, value: str, reason: str = "a second reason"):
    return browser.post(ADD, {"scope": scope, "value": value, "reason": reason}, follow=True)


def test_pause__of_what_is_paused__is_told_by_whom_since_when_and_why(operator: Browser) -> None:
    services.pause("CHANNEL", "SMS", reason="wrong texts", by="ada")

    answer = add(operator, "CHANNEL", "SMS")

    said = words_of(answer.content)
    assert 'Nothing was done. CHANNEL SMS is paused already, by ada since <time class="nq-time"' in said
    assert "UTC</time>: wrong texts" in said
    assert "a second reason" in said  # still in its field
    assert "successfully" not in said
    assert (Pause.objects.get().reason, LogEntry.objects.count()) == ("wrong texts", 0)


def test_pause__without_a_reason__is_not_begun(operator: Browser) -> None:
    said = words_of(add(operator, "CHANNEL", "SMS", " ").content)

    assert "Please give a reason." in said
    assert not Pause.objects.exists()


def test_page_of_a_pause__offers_to_resume_it_and_asks_for_the_reason(operator: Browser) -> None:
    made, _ = services.pause("CHANNEL", "SMS", reason="wrong texts", by="ada")
    address = reverse("admin:notifications_pause_change", args=[made.pk])

    page = operator.get(address).content
    asked = operator.post(LIST, fields_of(page, "data-resume"))

    assert "Resume 1 pause" in words_of(asked.content)
    assert 'by ada since <time class="nq-time"' in words_of(asked.content)
    assert Pause.objects.get(pk=made.pk).ended_at is None
    assert b"data-resume" not in person(Role.VIEWER).get(address).content


def test_pause__somebody_is_quicker_by_less_than_a_request__is_told_as_well(operator: Browser, monkeypatch) -> None:
    services.pause("CHANNEL", "SMS", reason="wrong texts", by="ada")
    monkeypatch.setattr(page.PauseForm, "clean", lambda form: form.cleaned_data)

    said = words_of(add(operator, "CHANNEL", "SMS").content)

    assert "is paused already, by ada since" in said
    assert "CHANNEL SMS is paused." not in said
    assert (Pause.objects.count(), LogEntry.objects.count()) == (1, 0)


def test_pause__of_a_client__is_called_by_its_name_everywhere(operator: Browser, billing: Client) -> None:
    added = add(operator, "CLIENT", "billing", "they asked")
    made = selectors.active_pauses().get()
    one = reverse("admin:notifications_pause_change", args=[made.pk])
    asked = operator.post(LIST, {"action": "resume_sending", "_selected_action": [str(made.pk)]})

    assert "CLIENT billing is paused." in words_of(added.content)
    for answer in (operator.get(LIST), operator.get(one), asked, operator.get(ACTS), operator.get("/admin/")):
        content = answer.content.decode().partition('id="content"')[2]
        assert "billing" in content
        if answer.wsgi_request.path != "/admin/":  # and nowhere else
            assert f'title="{billing.pk}"' in content or f'title="CLIENT {billing.pk}"' in content
        assert f">{billing.pk}" not in content
        assert f" {billing.pk}<" not in content

    form = {"action": "resume_sending", "_selected_action": [str(made.pk)], "seen": f"{made.pk}:", "confirmed": "yes"}
    ended = operator.post(LIST, form | {"reason": "they are done"}, follow=True)
    assert "CLIENT billing goes on." in words_of(ended.content)
    assert set(ControlAct.objects.values_list("name", flat=True)) == {f"CLIENT {billing.pk}"}
    history = reverse("admin:notifications_controlact_change", args=[ControlAct.objects.first().pk])
    assert "billing" in operator.get(history).content.decode()


def test_history__of_the_pause_of_a_client__leads_to_its_record(operator: Browser, billing: Client) -> None:
    made, _ = services.pause("CLIENT", "billing", by="ada")
    services.pause("CHANNEL", "SMS", by="ada")

    answer = operator.get(reverse("admin:notifications_pause_history", args=[made.pk]), follow=True)

    assert [act.name for act in answer.context["cl"].result_list] == [f"CLIENT {billing.pk}"]


def test_commands__of_a_client__call_it_by_its_name(billing: Client, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("pause", "CLIENT", str(billing.pk), reason="they asked")
    call_command("pause", "CLIENT", "billing")
    call_command("resume", "CLIENT", "billing")

    first, second, third = capsys.readouterr().out.splitlines()
    assert (first, third) == ("CLIENT billing is paused", "CLIENT billing goes on")
    assert second.startswith("CLIENT billing was paused already, by command:")
    assert second.endswith("UTC: they asked")


@pytest.fixture
def console(client, django_user_model):
    client.force_login(django_user_model.objects.create(username="ops", is_staff=True, is_superuser=True))
    return client


def test_console__pause_and_resume__are_done_by_the_services_and_recorded(console):
    from django.contrib.admin.models import LogEntry

    add_page = reverse("admin:notifications_pause_add")
    assert console.post(add_page, {"scope": "CHANNEL", "value": "SMS", "reason": "why"}).status_code == 302
    made = Pause.objects.get()
    assert (made.scope, made.value, made.reason, made.created_by) == ("CHANNEL", "SMS", "why", "ops")

    listed = reverse("admin:notifications_pause_changelist")
    action = {"action": "resume_sending", "_selected_action": [str(made.pk)]}
    action |= {"seen": f"{made.pk}:", "confirmed": "yes", "reason": "it is over"}
    assert console.post(listed, action).status_code == 302

    assert Pause.objects.get().ended_at is not None
    assert sorted(LogEntry.objects.values_list("object_id", "action_flag")) == [(str(made.pk), 1), (str(made.pk), 2)]


@pytest.mark.parametrize(("scope", "value"), [("CHANNEL", "FAX"), ("ALL", "x"), ("CLIENT", "nobody"), ("", "")])
def test_console__wrong_value__is_told_at_the_field(console, scope, value):
    page = console.post(reverse("admin:notifications_pause_add"), {"scope": scope, "value": value})

    assert page.status_code == 200
    assert page.context["adminform"].errors
    assert not Pause.objects.exists()


def test_console__without_the_permission__neither_pauses_nor_resumes(client, django_user_model):
    from django.contrib.auth.models import Permission

    user = django_user_model.objects.create(username="reader", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_pause"))
    client.force_login(user)
    made, _ = services.pause("ALL", by="a test")

    assert client.post(reverse("admin:notifications_pause_add"), {"scope": "ALL"}).status_code == 403
    action = {"action": "resume_sending", "_selected_action": [str(made.pk)]}
    action |= {"seen": f"{made.pk}:", "confirmed": "yes", "reason": "it is over"}
    assert client.post(reverse("admin:notifications_pause_changelist"), action).status_code == 403
    assert Pause.objects.get().ended_at is None
