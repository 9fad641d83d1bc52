"""/api/v1/inbox/{userId}"""

from urllib.parse import quote, urlsplit

import pytest

from notifications import inbox, services
from notifications.channel import Channel
from notifications.models import InboxEntry
from notifications.status import Status
from tests.support.api import NOTIFICATIONS, Caller, fields_of
from tests.support.factories import ApiKeyFactory
from tests.support.inboxes import deliver
from tests.support.rows import add

INBOX = "/api/v1/inbox"
LOOK, MARK = ("send", "inbox", "operate"), ("send", "inbox")


@pytest.fixture
def app(caller):
    """A key for the app's backend, of the client whose other key sends."""
    return Caller(ApiKeyFactory(client=caller.client, scopes=("inbox",)))


def filled(caller, count=1, user="ada"):
    """So many entries in the user's inbox; their ids, the newest first."""
    add(count, client=caller.client, channel=Channel.IN_APP, recipient=user)
    deliver()
    mine = InboxEntry.objects.filter(client=caller.client, user_id=user).order_by("-id")
    return [str(pk) for pk in mine.values_list("pk", flat=True)]


def ids(page):
    return [entry["id"] for entry in page["results"]]


def follow(caller, url):
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc) == ("http", "testserver")
    return caller.get(f"{parts.path}?{parts.query}").json()


def test_entry__sent_by_the_api__is_shown_with_its_content(caller, app):
    body = {"channel": "IN_APP", "recipient": " ada ", "subject": "Title", "body": "Text", "data": {"a": "b"}}
    made = caller.post(body={**body, "collapseKey": "c", "ttlSeconds": 3600, "userId": "label", "idempotencyKey": "k"})
    assert (made.status_code, made.json()["recipient"], made.json()["userId"]) == (201, "ada", "label")
    deliver()

    [entry] = app.get(f"{INBOX}/ada").json()["results"]

    notification = caller.get(f"{NOTIFICATIONS}/{made.json()['id']}").json()
    assert (notification["status"], notification["provider"]) == (Status.SENT, "inbox")
    times = {"createdAt": notification["finishedAt"], "expiresAt": notification["expiresAt"], "readAt": None}
    assert entry == {
        "id": entry["id"],
        "notificationId": notification["id"],
        "client": caller.client.name,
        "userId": "ada",
        "subject": "Title",
        "body": "Text",
        "data": {"a": "b"},
        "collapseKey": "c",
        **times,
    }


def test_list__of_a_user_without_entries__is_empty(app):
    answer = app.get(f"{INBOX}/nobody")

    assert (answer.status_code, answer.json()) == (200, {"results": [], "next": None, "previous": None})


def test_list__pages__lead_forth_and_back_over_everything(caller, app):
    expected = filled(caller, 5)

    first = app.get(f"{INBOX}/ada", {"limit": 2}).json()
    second = follow(app, first["next"])
    third = follow(app, second["next"])

    assert ids(first) + ids(second) + ids(third) == expected
    assert (first["previous"], third["next"]) == (None, None)
    assert ids(follow(app, third["previous"])) == ids(second)


@pytest.mark.parametrize("user", ["a b", "ada@example.com", "tenant/42", "ü", "a?b#c%2F", "+1", "a;b,c"])
def test_list__any_user_id__is_found_also_on_the_next_page(caller, app, user):
    expected = filled(caller, 2, user)

    first = app.get(f"{INBOX}/{quote(user, safe='')}", {"limit": 1}).json()

    assert ids(first) + ids(follow(app, first["next"])) == expected


def test_list__unread__leaves_out_what_was_read(caller, app):
    newest, oldest = filled(caller, 2)
    app.post(f"{INBOX}/ada/{newest}/read")

    assert ids(app.get(f"{INBOX}/ada", {"unread": "true"}).json()) == [oldest]
    assert ids(app.get(f"{INBOX}/ada", {"unread": "false"}).json()) == [newest, oldest]


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ({"unread": "yes", "limit": "0"}, ["unread", "limit"]),
        ({"unread": ["true", "true"]}, ["unread"]),
        ({"cursor": "x"}, ["cursor"]),
        ({"status": "SENT"}, ["status"]),
    ],
)
def test_list__bad_parameters__are_named(app, query, fields):
    answer = app.get(f"{INBOX}/ada", query)

    assert (answer.status_code, set(fields_of(answer))) == (400, set(fields))


@pytest.mark.parametrize("user", ["a%7Fb", "%20", "u" * 256, "ada/", "a//b", "a%00b"])
def test_address__of_no_user__is_refused(app, user):
    answer = app.get(f"{INBOX}/{user}")

    assert (answer.status_code, fields_of(answer)) == (400, ["userId"])


def test_read__repeated__keeps_the_first_time(caller, app):
    [entry] = filled(caller)

    first = app.post(f"{INBOX}/ada/{entry}/read")
    again = app.post(f"{INBOX}/ada/{entry}/read", body={})

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["readAt"] is not None
    assert again.json() == first.json()


def test_counts__as_entries_come_and_are_read__stay_right(caller, app):
    def unread():
        return app.get(f"{INBOX}/ada/unread-count").json()

    assert unread() == {"unread": 0, "more": False}
    entries = filled(caller, 3)
    assert unread() == {"unread": 3, "more": False}
    app.post(f"{INBOX}/ada/{entries[0]}/read")
    app.post(f"{INBOX}/ada/{entries[0]}/read")
    assert unread()["unread"] == 2
    assert app.post(f"{INBOX}/ada/read-all").json() == {"read": 2, "more": False}
    assert app.post(f"{INBOX}/ada/read-all").json() == {"read": 0, "more": False}
    assert unread()["unread"] == 0
    filled(caller, 1, "eve")
    assert unread()["unread"] == 0


def test_count__entry_is_replaced__counts_one(caller, app):
    for number in range(2):
        services.submit(
            client=caller.client,
            idempotency_key=f"{number}",
            channel="IN_APP",
            recipient="ada",
            body="x",
            collapse_key="c",
        )
        deliver()

    assert app.get(f"{INBOX}/ada/unread-count").json()["unread"] == 1


def test_many_unread__beyond_the_bound__are_counted_and_marked_up_to_it(caller, app, monkeypatch):
    monkeypatch.setattr(inbox, "COUNTED_MOST", 4)
    monkeypatch.setattr(inbox, "BATCH", 2)
    oldest = filled(caller, 5)[-1]

    assert app.get(f"{INBOX}/ada/unread-count").json() == {"unread": 4, "more": True}
    assert app.post(f"{INBOX}/ada/read-all").json() == {"read": 4, "more": True}
    assert ids(app.get(f"{INBOX}/ada", {"unread": "true"}).json()) == [oldest]
    assert app.get(f"{INBOX}/ada/unread-count").json() == {"unread": 1, "more": False}
    assert app.post(f"{INBOX}/ada/read-all").json() == {"read": 1, "more": False}


def test_other_clients__user_of_the_same_id__is_another_user(caller, app):
    [entry] = filled(caller)
    stranger = Caller(scopes=("send", "inbox"))

    assert stranger.get(f"{INBOX}/ada").json()["results"] == []
    assert stranger.get(f"{INBOX}/ada/unread-count").json()["unread"] == 0
    assert stranger.post(f"{INBOX}/ada/read-all").json()["read"] == 0
    assert stranger.post(f"{INBOX}/ada/{entry}/read").status_code == 404
    assert app.get(f"{INBOX}/ada/unread-count").json()["unread"] == 1


@pytest.mark.parametrize("entry", ["not-an-id", "01a22cbf-5d05-7797-8b38-3cc29ff8d9c8"])
def test_read__of_no_entry__is_not_found(app, entry):
    assert app.post(f"{INBOX}/ada/{entry}/read").status_code == 404


def test_read__under_another_user__is_not_found(caller, app):
    [entry] = filled(caller)

    assert app.post(f"{INBOX}/eve/{entry}/read").status_code == 404


@pytest.mark.parametrize("scope", ["send", "inbox", "read", "operate"])
def test_scopes__each_call__is_open_to_those_that_may(caller, scope):
    [entry] = filled(caller)
    holder = Caller(ApiKeyFactory(client=caller.client, scopes=(scope,)))

    looks = {holder.get(f"{INBOX}/ada").status_code, holder.get(f"{INBOX}/ada/unread-count").status_code}
    marks = {
        holder.post(f"{INBOX}/ada/{entry}/read").status_code,
        holder.post(f"{INBOX}/ada/read-all").status_code,
    }

    assert (looks, marks) == ({200 if scope in LOOK else 403}, {200 if scope in MARK else 403})


def test_scope__inbox__opens_nothing_else(app):
    statuses = [app.get().status_code, app.post(body={}).status_code, app.get("/api/v1/stats").status_code]

    assert statuses == [403, 403, 403]


def test_operator__sees_the_users_of_every_client_and_whose_they_are(caller, operator):
    other = Caller()
    filled(caller)
    filled(other)

    shown = operator.get(f"{INBOX}/ada").json()["results"]

    assert {entry["client"] for entry in shown} == {caller.client.name, other.client.name}
    assert operator.get(f"{INBOX}/ada/unread-count").json()["unread"] == 2


def test_operator__who_may_also_keep_inboxes__marks_those_of_its_own_client_alone(caller):
    [theirs] = filled(Caller())
    filled(caller)
    holder = Caller(ApiKeyFactory(client=caller.client, scopes=("operate", "inbox")))

    assert holder.post(f"{INBOX}/ada/read-all").json() == {"read": 1, "more": False}
    assert holder.post(f"{INBOX}/ada/{theirs}/read").status_code == 404
    assert InboxEntry.objects.get(pk=theirs).read_at is None


def test_list__many__costs_no_query_for_each(caller, app, django_assert_max_num_queries):
    filled(caller, 20)
    app.get(f"{INBOX}/ada")  # notes the key's use

    with django_assert_max_num_queries(2):
        assert len(app.get(f"{INBOX}/ada").json()["results"]) == 20


def test_list_of_notifications__by_user_id__needs_the_channel(caller):
    filled(caller, 1, "42")

    found = caller.get(query={"channel": "IN_APP", "recipient": "42"})

    assert [n["recipient"] for n in found.json()["results"]] == ["42"]
    assert fields_of(caller.get(query={"recipient": "42"})) == ["recipient"]
