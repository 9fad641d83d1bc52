"""The console's pages of what ended undelivered: what they show, to whom, and how much they ask of the database."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import pytest
from django.contrib.auth.models import Group, Permission
from django.http import QueryDict

from notifications.admin.dead_letters import filter as filters
from notifications.admin.dead_letters.filter import bulk_query, read_filter
from notifications.status import Status
from notifications.story.acts import Deed
from notifyq.console.sealed import opened
from notifyq.roles import Role
from tests.support.factories import ClientFactory, NotificationFactory

pytestmark = pytest.mark.django_db
GROUPS, LIST = "/admin/dead-letters/", "/admin/dead-letters/list/"
HELD = {"last_error_code": "UNCONFIRMED", "unconfirmed_provider": "sandbox"}
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


@pytest.fixture
def console(client, django_user_model):
    client.force_login(django_user_model.objects.create(username="ops", is_staff=True, is_superuser=True))
    return client


def dead(**columns):
    return NotificationFactory(status=Status.DEAD_LETTERED, content=None, **columns)


def page_of(browser, address, **query):
    answer = browser.get(address, query, follow=True)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def shown(browser, **query):
    return {row.of.pk for row in browser.get(LIST, query, follow=True).context["rows"]}


def test_groups__nothing_there__says_what_it_means(console) -> None:
    page = page_of(console, GROUPS)

    assert "Nothing is dead-lettered." in page
    assert "What failed for good" not in page
    assert "Nothing is held as unconfirmed." in page_of(console, GROUPS, kind="unconfirmed")
    assert "Nothing failed for good." in page_of(console, GROUPS, kind="failed")
    assert "Nothing ended undelivered." in page_of(console, GROUPS, kind="all")
    assert "Nothing is dead-lettered." in page_of(console, LIST)


def test_groups__each__leads_to_its_own_list(console) -> None:
    rows = [dead(last_error_code="timeout"), dead(last_error_code="timeout", unconfirmed_provider="smtp")]
    dead(last_error_code="timeout", channel="SMS")
    untried = dead(last_error_code="", last_used_provider="")
    failed = NotificationFactory(status=Status.FAILED, last_error_code="timeout", content=None)
    page = page_of(console, GROUPS, kind="all", order="nonsense")

    links = [link.replace("&amp;", "&") for link in re.findall(rf'href="({LIST}\?kind=[^"]*channel[^"]*)"', page)]
    found = [{row.of.pk for row in console.get(link).context["rows"]} for link in links]

    assert len(found) == 4
    assert {row.pk for row in rows} in found
    assert {untried.pk} in found
    assert {failed.pk} in found
    assert "some held as unconfirmed" in page
    assert "<b>4</b><span>dead letters</span>" in page


def test_groups__more_than_are_looked_at__are_said_to_be_the_latest(console, monkeypatch) -> None:
    from notifications.undelivered import groups

    monkeypatch.setattr(groups, "GROUPED_MOST", 2)
    for _ in range(4):
        dead()
    page = page_of(console, GROUPS)
    assert "<b>2+</b><span>dead letters</span>" in page
    assert "there are more" in page


def test_list__each_filter__keeps_those(console) -> None:
    shop = ClientFactory(name="shop")
    row = dead(client=shop, recipient="ada@example.org", reference="order 1", last_error_code="timeout")
    other = dead(channel="SMS", last_used_provider="smtp", recipient="+41790000123")
    failed = NotificationFactory(status=Status.FAILED, client=shop, content=None)

    assert shown(console) == {row.pk, other.pk}
    assert shown(console, kind="failed") == {failed.pk}
    assert shown(console, client=shop.pk, kind="all") == {row.pk, failed.pk}
    assert shown(console, channel="SMS") == shown(console, provider="smtp") == {other.pk}
    assert shown(console, recipient="ada@EXAMPLE.org") == shown(console, reference="order 1") == {row.pk}
    assert shown(console, recipient="+41 79 000 01 23") == {other.pk}
    assert shown(console, recipient="ada@example.org", reference="order 2") == set()
    assert shown(console, recipient="ada@example.org", client=other.client.pk) == set()
    assert shown(console, error_code="timeout", channel="EMAIL", client=shop.pk, after="2026-01-01T00:00") == {row.pk}
    assert shown(console, before="2026-01-01T00:00:00Z") == set()


@pytest.mark.parametrize("label", ["pk", "recipient", "reference", "user_id", "idempotency_key", "provider_message_id"])
def test_list__search__finds_exactly_that(console, label) -> None:
    columns = {"reference": "r", "user_id": "u", "idempotency_key": "k", "provider_message_id": "m"}
    row = dead(recipient="ada@example.org", **columns)
    dead()

    assert shown(console, q=getattr(row, label)) == {row.pk}
    assert shown(console, q=f"{getattr(row, label)}x") == set()
    assert shown(console, q=getattr(row, label), channel="SMS") == set()


def test_list__found_nothing__leads_to_all_notifications(console) -> None:
    sent = NotificationFactory(status=Status.SENT, reference="a & b", content=None)

    page = page_of(console, LIST, q="a & b", kind="all")

    assert "Nothing that ended undelivered matches." in page
    address = re.search(r'"(/admin/notifications/notification/\?q=[^"]*)"', page)
    assert address is not None
    assert str(sent.pk) in page_of(console, address[1])


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "x"},
        {"channel": "FAX"},
        {"client": "nobody"},
        {"after": "yesterday"},
        {"before": "2026-99-99T00:00"},
        {"recipient": "ada"},
        {"provider": "p" * 41},
        {"error_code": "a\0b"},
    ],
)
def test_list__filter_that_cannot_be_read__shows_nothing_rather_than_all(console, query) -> None:
    dead()
    page = page_of(console, LIST, **query)
    assert "the filter cannot be read" in page
    assert "nq-wrong" in page
    assert "checkbox" not in page


def test_list__place_that_cannot_be_read__is_the_latest_page(console) -> None:
    row = dead()
    assert shown(console, place="nonsense") == {row.pk}


def test_list__pages__keep_the_filter(console, monkeypatch) -> None:
    from notifications.undelivered import pages

    monkeypatch.setattr(pages, "SHOWN", 1)
    for _ in range(2):
        dead(reference="x & y")
    dead()
    first = console.get(LIST, {"reference": "x & y"})
    second = console.get(LIST + first.context["older"])

    assert [len(answer.context["rows"]) for answer in (first, second)] == [1, 1]
    assert (first.context["newer"], second.context["older"]) == ("", "")
    back = console.get(LIST + second.context["newer"])
    assert [row.of.pk for row in back.context["rows"]] == [row.of.pk for row in first.context["rows"]]


def test_list__more_of_a_recipient_than_are_looked_through__says_so(console, monkeypatch) -> None:
    monkeypatch.setattr(filters, "LABELLED_MOST", 1)
    for _ in range(2):
        dead(recipient="ada@example.org")
    assert "There are more of this recipient" in page_of(console, LIST, recipient="ada@example.org")


def test_list__instants_of_the_filter__are_shown_as_the_browser_takes_them(console) -> None:
    page = page_of(console, LIST, after="2026-03-01T13:00:00+01:00")
    assert 'value="2026-03-01T12:00:00"' in page
    assert "2026-03-01 12:00:00 UTC" in page


def test_list__held__is_marked_and_can_be_resolved(console) -> None:
    row, other = dead(**HELD), dead()
    page = page_of(console, LIST)

    assert page.count("held as unconfirmed</span>") == 1
    assert "Mark it as sent or as not delivered, once you know" in page
    assert f"act=resolve-sent&amp;row={row.pk}" in page
    assert f"act=resolve-sent&amp;row={other.pk}" not in page


@pytest.mark.parametrize(
    ("reported", "held", "advice"),
    [
        ("DELIVERED", True, "mark it as sent"),
        ("OPENED", True, "mark it as sent"),
        ("REJECTED", True, "mark it as not delivered"),
        ("ACCEPTED", True, "a retry may send a second copy"),
        ("BOUNCED", False, "a retry may send a second copy"),
        ("REJECTED", False, None),
        ("", True, None),
    ],
)
def test_list__reported_by_its_provider__says_what_that_speaks_for(console, reported, held, advice) -> None:
    row = dead(delivery_status=reported, **(HELD if held else {}))
    NotificationFactory(status=Status.FAILED, delivery_status="DELIVERED", content=None)

    sources = [
        page_of(console, LIST, kind="all"),
        page_of(console, "/admin/dead-letters/act/", act="retry", row=row.pk),
    ]

    for source in sources:
        assert source.count(f"Its provider reports {reported}: ") == (advice is not None)
        assert advice is None or advice in source


def test_pages__hostile_texts__are_escaped(console) -> None:
    row = dead(
        recipient=HOSTILE,
        reference=HOSTILE,
        last_error_code=HOSTILE[:64],
        last_error_message=HOSTILE,
        last_used_provider=HOSTILE[:40],
        client=ClientFactory(name=HOSTILE),
        unconfirmed_provider="x",
    )
    sources = [
        page_of(console, GROUPS),
        page_of(console, LIST, reference=HOSTILE),
        page_of(console, LIST, q=HOSTILE, provider=HOSTILE[:40]),
        page_of(console, LIST, **dict.fromkeys(("kind", "channel", "recipient", "after"), HOSTILE)),
        page_of(console, "/admin/dead-letters/act/", act="retry", row=str(row.pk), back=f"q={HOSTILE}"),
    ]
    for source in sources:
        assert "<script>alert" not in source
        assert "<img" not in source
    assert str(row.pk) in sources[1]


@pytest.mark.parametrize("address", [GROUPS, LIST])
@pytest.mark.parametrize("role", [None, *Role])
def test_pages__by_role__are_for_those_who_may_see_dead_letters(client, django_user_model, address, role) -> None:
    assert client.get(address)["Location"].startswith("/admin/login/")
    user = django_user_model.objects.create(username="somebody", is_staff=True)
    client.force_login(user)
    user.groups.add(*Group.objects.filter(name=role))
    dead(recipient="ada.private@example.org")

    assert client.get(address).status_code == (403 if role is None else 200)
    if role is not None:
        page = page_of(client, LIST)
        assert ("ada.private" in page) is (role is not Role.VIEWER)
        assert ("Retry" in page) is (role is not Role.VIEWER)
        assert client.post(address).status_code == 405


def test_old_list__leads_here_and_asks_for_the_same_permission(client, django_user_model) -> None:
    user = django_user_model.objects.create(username="somebody", is_staff=True)
    client.force_login(user)
    assert client.get("/admin/notifications/deadletter/", follow=True).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_deadletter"))
    client.force_login(user)
    assert client.get("/admin/notifications/deadletter/", follow=True).redirect_chain == [(LIST, 302)]


@pytest.mark.parametrize(
    ("address", "most"), [(GROUPS, 10), (LIST, 9), (f"{LIST}?q=x&recipient=a@example.org&error_code=nope&kind=all", 21)]
)
def test_pages__however_many_rows__ask_the_database_a_few_times(
    console, address, most, django_assert_max_num_queries
) -> None:
    for n in range(12):
        dead(last_error_code=f"code-{n}", unconfirmed_provider="x")
    with django_assert_max_num_queries(most):
        console.get(address, follow=True)


def bulk(query: str, deed: Deed = Deed.RETRY) -> dict[str, list[str]]:
    handed_on = parse_qs(bulk_query(read_filter(QueryDict(query).dict()), deed))
    return {name: [opened(text) for text in texts] for name, texts in handed_on.items()}


def test_bulk__what_matches__is_handed_on() -> None:
    shop = ClientFactory()
    asked = f"channel=SMS&provider=smtp&error_code=timeout&client={shop.pk}&recipient=A@EXAMPLE.org&reference=r"

    assert bulk("") == {"act": ["retry"], "status": ["DEAD_LETTERED"]}
    assert bulk(f"kind=failed&{asked}&after=2026-03-01T12:00&before=2026-03-02T12:00:01") == {
        "act": ["retry"],
        "status": ["FAILED"],
        "channel": ["SMS"],
        "provider": ["smtp"],
        "error_code": ["timeout"],
        "client": [str(shop.pk)],
        "recipient": ["A@example.org"],
        "reference": ["r"],
        "after": ["2026-03-01T12:00:00Z"],
        "before": ["2026-03-02T12:00:01Z"],
    }
    assert bulk("kind=unconfirmed&error_code=UNCONFIRMED")["error_code"] == ["UNCONFIRMED"]
    for deed in (Deed.RESOLVE_SENT, Deed.RESOLVE_FAILED):
        expected = {"act": [deed], "status": ["DEAD_LETTERED"]}
        assert bulk("", deed) == bulk("kind=unconfirmed", deed) == expected
        assert bulk("kind=failed", deed) == bulk("kind=all", deed) == bulk("kind=unconfirmed&q=x", deed) == {}


@pytest.mark.parametrize("query", ["kind=all", "q=x", "provider=-", "error_code=-", "kind=unconfirmed", "channel=FAX"])
def test_bulk__what_that_page_would_take_otherwise__is_not_offered(query: str) -> None:
    assert bulk(query) == {}


def test_list__retry_of_all_that_match__is_previewed_with_just_those(console) -> None:
    shop = ClientFactory()
    columns = {"client": shop, "recipient": "ada@example.org", "reference": "a & b", "last_error_code": "timeout"}
    for more in ({}, HELD | {"last_error_code": "timeout"}, {"channel": "SMS"}, {"reference": "c"}, {"client": None}):
        dead(**columns | {name: value or ClientFactory() for name, value in more.items()})
    asked = {"channel": "EMAIL", "client": shop.pk, "recipient": "ada@example.org", "reference": "a & b"}
    asked |= {"provider": "sandbox", "error_code": "timeout", "after": "2026-01-01T00:00", "before": "2099-01-01T00:00"}

    answer = console.get(LIST, asked, follow=True)
    previews = [console.get(address).context["preview"] for _, address in answer.context["ticked"]["bulk"]]

    counts = [(preview.count.total, preview.count.actionable) for preview in previews]
    assert (len(answer.context["rows"]), counts) == (2, [(2, 1), (2, 1), (2, 1)])
    assert "Retry everything that matches" in answer.content.decode()
    assert "Mark everything that matches as sent" in answer.content.decode()
    assert "everything that matches" not in page_of(console, LIST, q="x", **asked)


@pytest.mark.parametrize(("held", "kind", "acts"), [
    (True, "dead", ["retry", "resolve-sent", "resolve-failed"]), (False, "dead", ["retry"]),
    (False, "failed", ["retry"]),
])  # fmt: skip
def test_list__marking_as_sent__is_offered_only_where_something_is_held(console, held, kind, acts) -> None:
    NotificationFactory(status="FAILED" if kind == "failed" else "DEAD_LETTERED")
    if held:
        NotificationFactory(status="DEAD_LETTERED", last_error_code="UNCONFIRMED", unconfirmed_provider="sandbox")

    offered = console.get(LIST, {"kind": kind}).context["ticked"]["acts"]

    assert [name for name, _ in offered] == acts
