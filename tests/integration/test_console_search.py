"""What is searched for in the console stands in no address: forms, links, redirects and old links."""

from __future__ import annotations

import html
import logging
import re
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser
from django.urls import reverse

from notifications.models import BulkAct, Notification
from notifications.status import Status
from notifyq.console import sealed
from notifyq.roles import Role
from tests.support.console import fields_of, person
from tests.support.factories import NotificationFactory

pytestmark = pytest.mark.django_db
TERM = "ada.private@example.org"
NOTIFICATIONS = reverse("admin:notifications_notification_changelist")
DEAD, BULK = reverse("admin:dead-letters-list"), reverse("admin:bulk-preview")


@pytest.fixture
def operator() -> Browser:
    return person(Role.OPERATOR, "ops")


def dead(recipient: str = TERM) -> Notification:
    return NotificationFactory(status=Status.DEAD_LETTERED, recipient=recipient)


def addresses(page: str) -> list[str]:
    """Everything on a page that leads somewhere, and what its forms carry along to make addresses of."""
    found = re.findall(r'(?:href|action|formaction|data-refresh|src)="([^"]*)"', page)
    found += re.findall(r'<input type="hidden"[^>]* value="([^"]*)"', page)
    return [unquote(html.unescape(address)) for address in found]


def search(browser: Browser, address: str, **form: str):
    """Send the form; returns the page that comes of it, and checks that no address on the way tells the term."""
    sent = browser.post(address, {"_search": "1"} | form)
    assert sent.status_code == 302
    assert TERM not in unquote(sent["Location"])
    page = browser.get(sent["Location"])
    assert page.status_code == 200
    assert not [address for address in addresses(page.content.decode()) if TERM in address]
    return page


@pytest.mark.parametrize("box", ["q", "recipient"])
def test_search__of_dead_letters__finds_and_every_link_keeps_it_sealed(operator: Browser, box: str) -> None:
    row, _other = dead(), dead("bob@example.org")

    page = search(operator, DEAD, **{box: TERM, "kind": "all"})

    assert [each.of.pk for each in page.context["rows"]] == [row.pk]
    links = [link for link in addresses(page.content.decode()) if "sealed." in link]
    assert len(links) > 5
    narrowed = operator.get(DEAD + next(link for link in links if "kind=dead" in link))
    assert [each.of.pk for each in narrowed.context["rows"]] == [row.pk]


def test_search__of_notifications__finds_and_pages_and_filters_keep_it_sealed(operator: Browser, monkeypatch) -> None:
    monkeypatch.setattr("notifications.admin.notification.NotificationAdmin.list_per_page", 2)
    rows = [dead() for _ in range(3)]
    dead("bob@example.org")

    page = search(operator, NOTIFICATIONS, q=TERM, status="DEAD_LETTERED")

    assert page.context["cl"].result_count == 3
    assert f'value="{TERM}"' in page.content.decode()  # in the box
    [second] = {link for link in addresses(page.content.decode()) if "p=2" in link}
    shown = operator.get(NOTIFICATIONS + second).context["cl"]
    assert {row.pk for row in shown.result_list} <= {row.pk for row in rows}
    assert (shown.query, shown.result_count, len(shown.result_list)) == (TERM, 3, 1)
    first = str(page.context["cl"].result_list[0].pk)
    one = operator.get(next(link for link in addresses(page.content.decode()) if first in link))
    assert not [link for link in addresses(one.content.decode()) if TERM in link]


def test_search__to_act_on_all_that_match__keeps_it_sealed_from_the_list_to_the_act(
    operator: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    dead()
    page = search(operator, DEAD, recipient=TERM, kind="dead")

    preview = operator.get(page.context["ticked"]["bulk"][0][1])
    looked = search(operator, BULK, act="retry", recipient=TERM)
    form = fields_of(preview.content, "data-looked-at") | {"reason": "x", "rate": "1"}
    begun = operator.post(reverse("admin:bulk-begin"), form)

    assert preview.context["preview"].count.total == looked.context["preview"].count.total == 1
    assert BulkAct.objects.get().selection["recipient"] == TERM
    for address in (begun["Location"], reverse("admin:bulk-list"), "/admin/"):
        assert not [link for link in addresses(operator.get(address).content.decode()) if TERM in link]
    assert TERM not in caplog.text
    assert not [record for record in caplog.records if TERM in str(record.__dict__)]


@pytest.mark.parametrize(
    "old", [f"{NOTIFICATIONS}?q={TERM}&status=DEAD_LETTERED", f"{DEAD}?q={TERM}", f"{DEAD}?recipient={TERM}&kind=all",
            f"{BULK}?act=retry&recipient={TERM}", f"{NOTIFICATIONS}?recipient={TERM}"]
)  # fmt: skip
def test_old_link__with_the_term_in_it__leads_to_the_sealed_address(operator: Browser, old: str) -> None:
    row = dead()
    dead("bob@example.org")

    answer = operator.get(old)
    page = operator.get(answer["Location"])

    assert answer.status_code == 302
    assert TERM not in unquote(answer["Location"])
    assert str(row.pk)[-12:] in page.content.decode()
    assert "bob@example.org" not in page.content.decode()
    login = Browser().get(old, follow=True).redirect_chain
    assert login[-1][0].startswith("/admin/login/")
    assert not [address for address, _ in login if TERM in unquote(address)]


@pytest.mark.parametrize("token", ["sealed.broken", "sealed.", "sealed." + "A" * 200])
def test_link__that_nobody_can_open__is_told_and_finds_nothing_by_it(operator: Browser, token: str) -> None:
    dead()

    listed = operator.get(NOTIFICATIONS, {"q": token})
    undelivered = [operator.get(DEAD, {name: token}) for name in ("q", "recipient")]
    preview = operator.get(BULK, {"act": "retry", "recipient": token})

    for page in (listed, *undelivered, preview):
        assert page.status_code == 200
        assert "cannot be read any more" in page.content.decode()
    assert listed.context["cl"].query == ""
    assert [page.context["rows"] for page in undelivered] == [[], []]
    assert "confirmation" not in preview.content.decode()  # never everything instead
    assert not operator.get(NOTIFICATIONS, {"recipient": token}).context["cl"].result_list


def test_link__handed_to_a_viewer__finds_the_same_and_does_not_say_whom(operator: Browser) -> None:
    dead()
    viewer = person(Role.VIEWER)
    listed = search(operator, NOTIFICATIONS, q=TERM).request["QUERY_STRING"]
    narrowed = search(operator, DEAD, recipient=TERM).request["QUERY_STRING"]

    pages = [viewer.get(f"{NOTIFICATIONS}?{listed}"), viewer.get(f"{DEAD}?{narrowed}"), viewer.get(f"{DEAD}?{listed}")]

    assert pages[0].context["cl"].result_count == 1
    assert [len(page.context["rows"]) for page in pages[1:]] == [1, 1]
    for page in pages:
        assert TERM not in page.content.decode()
        assert "a…@example.org" in page.content.decode()
    kept = dict(re.findall(r'<input type="hidden" name="(recipient)" value="([^"]+)"', pages[1].content.decode()))
    assert sealed.opened(kept["recipient"]) == TERM  # changing another filter does not lose it


def test_search__by_an_id__stays_readable(operator: Browser) -> None:
    row = dead()

    assert operator.post(NOTIFICATIONS, {"_search": "1", "q": str(row.pk)})["Location"].endswith(f"?q={row.pk}")
    assert operator.get(NOTIFICATIONS, {"q": str(row.pk)}).status_code == 200


def test_search__of_every_list__goes_by_post(admin_client: Browser) -> None:
    """Also Django's own, where a login is looked for by its e-mail address."""
    User.objects.create(username="bob", email=TERM)
    from django.contrib import admin

    for model, model_admin in admin.site._registry.items():
        if model_admin.search_fields and model._meta.model_name != "deadletter":
            address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
            search(admin_client, address, q=TERM)
    users = search(admin_client, reverse("admin:auth_user_changelist"), q=TERM)
    assert [user.username for user in users.context["cl"].result_list] == ["bob"]


def test_search__without_login_or_token__is_refused(client: Browser) -> None:
    assert client.post(DEAD, {"_search": "1", "q": TERM})["Location"] == f"/admin/login/?next={DEAD}"
    strict = Browser(enforce_csrf_checks=True)
    strict.force_login(User.objects.create(username="ann", is_staff=True, is_superuser=True))
    assert strict.post(DEAD, {"_search": "1", "q": TERM}).status_code == 403


def test_search__by_those_who_may_not_see_the_page__is_refused_there(client: Browser) -> None:
    client.force_login(User.objects.create(username="nobody", is_staff=True))

    for address in (DEAD, BULK, NOTIFICATIONS):
        assert client.post(address, {"_search": "1", "q": TERM}, follow=True).status_code == 403
    assert client.post(DEAD, {"q": TERM}).status_code == 403


def test_post__that_is_no_search__is_still_refused_by_pages_that_only_show(operator: Browser) -> None:
    for address in (DEAD, BULK):
        assert operator.post(address, {"q": TERM}).status_code == 405


def test_text_filter__beside_a_search__carries_it_sealed(operator: Browser) -> None:
    dead()

    page = search(operator, NOTIFICATIONS, q=TERM).content.decode()

    form = page.partition('class="nq-text-filter"')[2].partition("</form>")[0]
    [token] = re.findall(r'name="q" value="([^"]+)"', form)
    assert sealed.opened(token) == TERM
