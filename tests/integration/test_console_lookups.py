"""What the lists of the console let an address ask: their own filters and links, and nothing else of the tables."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Field
from django.test import Client as Browser

from notifications.models import Notification, Pause
from notifyq.console.lookups import AllowsLookups
from notifyq.console.sealed import seal
from notifyq.roles import Role
from tests.support.console import person
from tests.support.factories import ApiKeyFactory, NotificationFactory

pytestmark = pytest.mark.django_db
LIST = "/admin/notifications/notification/"
RECIPIENT = "zoe.private@example.org"
HIDDEN = {
    "auth.User": ("password", "email", "last_login"),
    "notifications.ApiKey": ("key_hash", "prefix"),
    "notifications.BulkAct": ("selection__recipient", "selection"),
    "notifications.Client": ("smtp_url_encrypted", "api_keys__key_hash"),
    "notifications.Notification": ("recipient", "idempotency_key", "content__body", "client__api_keys__prefix"),
    "webhooks.WebhookEndpoint": ("secret_encrypted", "url"),
    "webhooks.WebhookEvent": ("body", "notification__recipient", "endpoint__secret_encrypted"),
}  # fmt: skip
"""Beside all columns, and all columns behind each relation, of every list."""
LOOKUPS = ("__startswith", "__regex", "__gt", "__iexact", "__exact", "__in", "__isnull", "__year", "")


@pytest.fixture
def viewer() -> Browser:
    return person(Role.VIEWER)


@pytest.fixture
def row() -> Notification:
    return NotificationFactory(recipient=RECIPIENT)


def lists() -> list[Any]:
    return list(admin.site._registry.values())


def columns(model_admin: Any) -> Iterator[str]:
    yield from HIDDEN.get(model_admin.opts.label, ())
    for field in model_admin.opts.get_fields():
        yield field.name
        if field.is_relation and field.related_model:
            far = [f.name for f in field.related_model._meta.get_fields() if isinstance(f, Field)]
            yield from (f"{field.name}__{name}" for name in far)


def own_names(model_admin: Any, browser: Browser, address: str) -> set[str]:
    """What the filters of that list say they read."""
    answer = browser.get(address)
    specs = answer.context["cl"].filter_specs
    return {name for spec in specs for name in spec.expected_parameters()} | set(model_admin.linked_by)


def address_of(model_admin: Any) -> str:
    return f"/admin/{model_admin.opts.app_label}/{model_admin.opts.model_name}/"


def test_registry__every_list__goes_by_the_allow_list() -> None:
    assert [found for found in lists() if not isinstance(found, AllowsLookups)] == []


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.ADMINISTRATOR])
def test_list__any_column__is_allowed_only_where_a_filter_may_mean_it(role: Role, rf: Any) -> None:
    """Asked of the list itself: some thousands of requests would take too long."""
    request = rf.get("/")
    request.user = User.objects.get(pk=person(role).session["_auth_user_id"])
    for found in lists():
        mine = set(found.linked_by) | {_path(f) for f in found.list_filter}
        for column in columns(found):
            for lookup in LOOKUPS:
                name = column + lookup
                near = any(name == known or name.startswith(f"{known}__") for known in mine)
                assert near or not found.lookup_allowed(name, "x", request), (found, name)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.ADMINISTRATOR])
def test_list__of_each_model__leads_back_to_itself_from_a_lookup_that_is_not_its_own(role: Role, row: Any) -> None:
    browser, tried = person(role), 0
    ends = ("__startswith", "__api_keys__prefix")
    for found in lists():
        address = address_of(found)
        if role is Role.ADMINISTRATOR and found.opts.app_label != "auth":
            continue  # sees the others like an operator
        if browser.get(address).status_code != 200:
            continue  # not for that person, or led to a page of its own
        own = own_names(found, browser, address)
        near = [f"{_path(f)}{end}" for f in found.list_filter for end in ends]
        for name in [*near, *(f"{name}__startswith" for name in HIDDEN.get(found.opts.label, ())), "pk", "id__exact"]:
            if name in own:
                continue
            answer = browser.get(address, {name: "z"})
            assert (answer.status_code, answer["Location"]) == (302, f"{address}?e=1"), (address, name)
            tried += 1
    assert tried > (10 if role is Role.ADMINISTRATOR else 60)


@pytest.mark.parametrize(
    "asked",
    [
        *(f"recipient__{lookup}=z" for lookup in ("startswith", "regex", "gt", "iexact", "exact", "contains")),
        *("recipient__regex=*", "idempotency_key=k", "idempotency_key__startswith=k", "content__body__startswith=a"),
        *("client__api_keys__prefix__startswith=a", "client__name__startswith=a", "attempts__error_code=x"),
        *("created_at__year=0", "created_at__year=-1", f"created_at__year={10**30}", "channel__startswith=E"),
        *("_to_field=%2B", "_to_field=recipient", "_to_field=x", "_popup=1&_to_field=recipient"),
        *("nothing=1", "nothing__recipient=1", "priority__exact=x&e=1"),
    ],
)
def test_address__that_asks_what_the_list_does_not_offer__is_left_and_noted_once_without_what_it_asked(
    viewer: Browser, row: Notification, caplog: pytest.LogCaptureFixture, asked: str
) -> None:
    caplog.set_level(logging.INFO)
    answer = viewer.get(f"{LIST}?id__exact={row.pk}&{asked}" if "nothing" in asked else f"{LIST}?{asked}")
    assert (answer.status_code, answer["Location"]) == (302, f"{LIST}?e=1")
    notes = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [(note.message, note.levelname, note.exc_info) for note in notes] == [("lookup_refused", "WARNING", None)]
    assert asked.partition("=")[2] not in (notes[0].__dict__["list"], notes[0].message)
    page = viewer.get(answer["Location"])
    assert page.status_code == 200
    assert "This page cannot be filtered by" in page.content.decode()


def _asks_all(browser: Browser, found: Any) -> Iterator[tuple[str, str, bool]]:
    """Each filter that list has or may have: its name, a value, and whether it is offered."""
    changes = browser.get(address_of(found)).context["cl"]
    specs = changes.filter_specs
    for spec in specs:
        if getattr(spec, "takes_any_text", False):
            continue
        name = spec.expected_parameters()[0]
        for choice in spec.choices(changes):
            offered = dict(parse_qsl(str(choice["query_string"]).removeprefix("?")))
            yield from ((key, value, True) for key, value in offered.items())
        yield name, "NONSENSE", False
    shown = {name for spec in specs for name in spec.expected_parameters()}
    hidden = {_path(entry) for entry in found.list_filter if isinstance(entry, type)} - shown
    yield from ((name, "NONSENSE", False) for name in hidden)


def test_list__of_each_model__takes_what_its_filters_offer_and_refuses_any_other_value(admin_client: Browser) -> None:
    NotificationFactory()
    tried = {True: 0, False: 0}
    for found in lists():
        address = address_of(found)
        if not found.list_filter or admin_client.get(address).status_code != 200:
            continue
        for name, value, is_offered in _asks_all(admin_client, found):
            answer = admin_client.get(address, {name: value})
            wanted = (200, None) if is_offered else (302, f"{address}?e=1")
            assert (answer.status_code, answer.get("Location")) == wanted, (address, name, value)
            tried[is_offered] += 1
    assert min(tried.values()) > 25, tried


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("status=PENDING&waiting_reason=XX", "“XX”, which is no choice of its filter “waiting reason”"),
        ("created=1s", "“1s”, which is no choice of its filter “created”"),
        ("channel__exact=FAX", "“FAX”, which is no choice of its filter “channel”"),
        ("priority__exact=x", "“x”, which is no choice of its filter “priority”"),
        ("status=SENT&status=FAILED", "“SENT, FAILED”, which is no choice of its filter “status”"),
        ("recipient_of=x", "“x”, which is no choice of its filter “recipient_of”"),
        ("client__id__exact=01890000-0000-7000-8000-000000000001", "no choice of its filter “client”"),
        (f"status={'<b>' * 100}", "&lt;b&gt;…”"),
    ],
)
def test_filter__with_a_value_it_does_not_know__is_named_and_carried_by_no_link(
    row: Notification, asked: str, told: str
) -> None:
    page = person(Role.OPERATOR).get(f"{LIST}?{asked}", follow=True)
    assert page.redirect_chain == [(f"{LIST}?e=1", 302)]
    assert told in page.content.decode()
    assert [address for _, address in page.context["ticked"]["bulk"]] == []


def test_act__on_what_an_unknown_value_would_show__is_not_done() -> None:
    key = ApiKeyFactory()
    form = {"action": "revoke", "_selected_action": str(key.pk), "index": "0", "select_across": "1"}
    form |= {"confirmed": "1", "reason": "x"}
    address = "/admin/notifications/apikey/?client__id__exact=01890000-0000-7000-8000-000000000001"
    page = person(Role.ADMINISTRATOR).post(address, form, follow=True)
    assert "Nothing was done." in page.content.decode()
    key.refresh_from_db()
    assert key.revoked_at is None


def test_filter__by_the_only_client_there_is__is_in_force(viewer: Browser, row: Notification) -> None:
    answer = viewer.get(LIST, {"client__id__exact": str(row.client_id)})
    assert (answer.status_code, list(answer.context["cl"].result_list)) == (200, [row])
    assert answer.context["cl"].has_active_filters


def test_viewer__who_guesses_a_recipient_letter_by_letter__sees_no_difference(viewer: Browser, row: Any) -> None:
    asked = [urlencode({"id__exact": str(row.pk), "recipient__startswith": start}) for start in ("z", "q")]
    answers = [viewer.get(f"{LIST}?{query}") for query in asked]
    assert [(answer.status_code, answer["Location"]) for answer in answers] == [(302, f"{LIST}?e=1")] * 2


@pytest.mark.parametrize(
    "name", ["recipient", "channel__exact", "client__id__exact", "reference", "group_id", "status"]
)
def test_link__that_the_console_makes__still_filters(viewer: Browser, name: str) -> None:
    row = NotificationFactory(recipient=RECIPIENT, reference="r-1", group_id="01890000-0000-7000-8000-000000000001")
    NotificationFactory(recipient="bob@example.org", reference="r-2")
    value = getattr(row, name.partition("_")[0] if "__" in name else name)
    value = value.pk if name.startswith("client") else value
    answer = viewer.get(LIST, {name: seal(value) if name == "recipient" else str(value)})
    assert answer.status_code == 200
    assert row in answer.context["cl"].result_list


def test_order__of_a_list_that_is_not_sorted__is_left_as_it_is(viewer: Browser) -> None:
    rows = [NotificationFactory(last_error_code=code) for code in ("b", "a", "c")]
    for order in ("2", "-2", "3.-4", "99", "x", "9" * 5000):
        listed = viewer.get(LIST, {"o": order}).context["cl"].result_list
        assert [found.pk for found in listed] == sorted((row.pk for row in rows), reverse=True), order


def test_page_of_a_row__named_by_another_column__is_left_too(viewer: Browser, row: Notification) -> None:
    page = f"/admin/notifications/client/{row.client_id}/change/"
    for column in ("%2B", "name", "x"):
        answer = viewer.get(f"{page}?_to_field={column}")
        assert (answer.status_code, answer["Location"]) == (302, f"{page}?e=1")
    assert viewer.get(f"{page}?_to_field=id").status_code == 200


@pytest.mark.parametrize("key", ["x", str(10**30), "_00"])
def test_page_of_a_row__of_an_id_of_the_wrong_form__is_not_there(key: str) -> None:
    browser = person(Role.ADMINISTRATOR)
    for found in lists():
        for page in ("change", "history"):
            assert browser.get(f"{address_of(found)}{key}/{page}/").status_code in (302, 404), found
    assert browser.get(f"/admin/r/{ContentType.objects.get_for_model(User).pk}/{key}/").status_code == 404


@pytest.mark.parametrize("ticked", ["x", str(10**30), "a\0b", ""])
@pytest.mark.parametrize(
    ("place", "action"),
    [
        ("notifications/pause", "resume_sending"),
        ("notifications/apikey", "revoke"),
        ("notifications/providerhealth", "reset"),
        ("ratelimits/ratelimitrule", "remove"),
        ("auth/user", "delete_selected"),
    ],
)
def test_act__on_an_id_of_the_wrong_form__does_nothing_and_says_so(place: str, action: str, ticked: str) -> None:
    browser = person(Role.ADMINISTRATOR)
    known = admin.site._registry[_model(place)].get_actions(browser.get(f"/admin/{place}/").wsgi_request)
    action = action if action in known else next(iter(known))
    form = {"action": action, "_selected_action": ticked, "index": "0", "confirmed": "1", "reason": "x"}
    answer = browser.post(f"/admin/{place}/", form, follow=True)
    assert answer.status_code == 200
    assert "Nothing was done" in answer.content.decode()


def test_act__on_an_id_of_the_right_form__is_done() -> None:
    pause = Pause.objects.create(scope="ALL", value="", reason="r", created_by="ann")
    browser = person(Role.OPERATOR)
    form = {"action": "resume_sending", "_selected_action": str(pause.pk), "index": "0"}
    answer = browser.post("/admin/notifications/pause/", form)
    assert answer.status_code == 200
    assert str(pause) in answer.content.decode()


def _model(place: str) -> Any:
    return next(found.model for found in lists() if address_of(found) == f"/admin/{place}/")


def _path(entry: Any) -> str:
    path = entry[0] if isinstance(entry, tuple) else entry
    return path if isinstance(path, str) else str(path.parameter_name)
