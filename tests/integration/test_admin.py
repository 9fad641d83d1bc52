"""The console: every table can be read, nothing can be changed, no secret is shown, no page counts a big table."""

from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from notifications.models import (
    ApiKey,
    Attempt,
    BulkAct,
    Client,
    Content,
    ControlAct,
    DeadLetter,
    InboxEntry,
    LookUp,
    Notification,
    OnceToken,
    OperatorAction,
    OutcomeTally,
    Pause,
    ProviderHealth,
    ProviderPace,
    Receipt,
    Worker,
)
from notifyq.console import lists
from notifyq.runtime.ids import uuid7
from tests.support.factories import NotificationFactory

pytestmark = pytest.mark.django_db

MODELS = [model for model in admin.site._registry if model._meta.app_label == "notifications"]
CAN_BE_ADDED = (ApiKey, Pause, ProviderHealth)
SECRETS = ("hash-of-the-key-hash-of-the-key!", "encrypted-relay", "fingerprint-of-the-request")
BODY = "Your parcel is on its way"


@pytest.fixture
def admin_client(client, django_user_model):
    """Logged in without a password, since hashing one takes longer than a test."""
    client.force_login(django_user_model.objects.create(username="ops", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def rows():
    """One row of each table, related to each other."""
    shop = Client.objects.create(name="Shop", smtp_url_encrypted=SECRETS[1])
    key = ApiKey.objects.create(client=shop, prefix="nq_abc", key_hash=SECRETS[0].encode(), scopes=["send", "read"])
    notification = Notification.objects.create(
        client=shop,
        idempotency_key="order-1",
        fingerprint=SECRETS[2].encode(),
        channel="EMAIL",
        recipient="ada@example.com",
        send_at=timezone.now(),
        max_attempts=6,
        on_unconfirmed="RETRY",
        status="PENDING",
        waiting_reason="RETRY_BACKOFF",
        reference="ref-1",
        user_id="user-1",
    )
    content = Content.objects.create(notification=notification, subject="Parcel", body=BODY, html_body="<p>Parcel</p>")
    attempt = Attempt.objects.create(
        notification=notification,
        cycle=0,
        number=1,
        hop=0,
        provider="sandbox",
        outcome="TEMPORARY",
        finished_at=timezone.now(),
        worker_id="w1",
        claim_token=uuid7(),
        error_code="connect_failed",
    )
    worker = Worker.objects.create(id="w1", role="delivery", host="h", pid=1)
    pause = Pause.objects.create(scope="CLIENT", value=str(shop.pk), created_by="ops")
    health = ProviderHealth.objects.create(channel="EMAIL", provider="sandbox")
    pace = ProviderPace.objects.create(provider="sandbox")
    action = OperatorAction.objects.create(
        notification=notification, action="CANCEL", actor_kind="USER", actor="ada", status_before="PENDING"
    )
    receipt = Receipt.objects.create(notification=notification, provider="ses", event_id="e-1", status="DELIVERED")
    row = NotificationFactory(client=shop, status="DEAD_LETTERED", reference="dead", fingerprint=SECRETS[2].encode())
    dead = DeadLetter.objects.get(pk=row.pk)
    entry = InboxEntry.objects.create(
        notification=notification, client=shop, user_id="user-1", body=BODY, send_at=notification.send_at
    )
    tally = OutcomeTally.objects.create(at=timezone.now(), status="SENT", channel="EMAIL", count=1)
    said = LookUp.objects.create(
        notification=notification,
        cycle=1,
        provider="sandbox",
        found="UNKNOWN",
        asked_count=2,
        first_asked_at=timezone.now(),
        last_asked_at=timezone.now(),
    )
    bulk = BulkAct.objects.create(
        form_id=uuid7(),
        action="RETRY",
        selection={"action": "RETRY", "status": "FAILED"},
        cutoff=timezone.now(),
        rate_per_second=1,
        actor_kind="USER",
        actor="ada",
        reason="why",
    )
    steering = ControlAct.objects.create(control="PAUSE", name="ALL", action="PAUSE", actor="ada")
    made = (shop, key, notification, content, attempt, worker, pause, action, receipt, said, dead, entry, tally)
    return {type(row): row for row in (*made, health, pace, bulk, steering)}


def address(model, what, *args):
    return reverse(f"admin:notifications_{model._meta.model_name}_{what}", args=args)


def shown(client, model, query=""):
    response = client.get(address(model, "changelist") + query, follow=True)
    assert response.status_code == 200
    return response.context["cl"].result_list


@pytest.mark.parametrize("address", ["/admin/", "/admin/notifications/notification/"])
def test_bar__on_every_page__leads_to_what_the_person_may_see(client, django_user_model, address):
    viewer = django_user_model.objects.create(username="vera", is_staff=True)
    viewer.groups.add(Group.objects.get(name="viewer"))
    client.force_login(viewer)
    page = client.get(address).content.decode()
    assert f'<a href="{address}" aria-current="page">' in page
    assert 'href="/admin/dead-letters/"' in page
    client.force_login(django_user_model.objects.create(username="nobody", is_staff=True))
    assert "nq-bar" not in client.get("/admin/").content.decode()


def test_console__models_of_the_app__are_all_registered():
    from django.apps import apps

    assert set(MODELS) == set(apps.get_app_config("notifications").get_models()) - {OnceToken}  # nothing to see there


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_pages__each_table__list_and_detail_open_without_a_secret(admin_client, rows, model):
    pages = [
        admin_client.get(address(model, "changelist"), follow=True),
        admin_client.get(address(model, "change", rows[model].pk)),
    ]
    for page in pages:
        assert page.status_code == 200
        assert not [secret for secret in SECRETS if secret in page.content.decode()]


@pytest.mark.parametrize("model", [m for m in MODELS if m not in CAN_BE_ADDED], ids=lambda model: model.__name__)
def test_pages__each_table__nothing_can_be_added(admin_client, rows, model):
    assert admin_client.get(address(model, "add")).status_code == 403
    assert admin_client.post(address(model, "add"), {}).status_code == 403


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_pages__each_table__nothing_can_be_changed(admin_client, rows, model):
    row = rows[model]
    assert admin_client.post(address(model, "change", row.pk), {}).status_code == 403
    assert admin_client.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    action = {"action": "delete_selected", "_selected_action": [str(row.pk)]}
    admin_client.post(address(model, "changelist"), action)
    assert model.objects.filter(pk=row.pk).exists()


def test_pages__not_logged_in__lead_to_the_login(client, rows):
    response = client.get(address(Notification, "changelist"))
    assert response.status_code == 302
    assert "/admin/login/" in response["Location"]


@pytest.mark.parametrize("model", [Notification, Content, Attempt, InboxEntry])
def test_lists__notification_has_a_body__no_list_shows_or_reads_it(admin_client, rows, model):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        page = admin_client.get(address(model, "changelist"))
    assert BODY not in page.content.decode()
    assert not [query for query in queries if '"body"' in query["sql"]]


def test_detail__notification__shows_content_attempts_and_why_it_waits(admin_client, rows):
    text = admin_client.get(address(Notification, "change", rows[Notification].pk)).content.decode()
    for expected in (BODY, "&lt;p&gt;Parcel&lt;/p&gt;", "connect_failed", "TEMPORARY", "retry backoff", "Notify Queue"):
        assert expected in text


@pytest.mark.parametrize("term", ["+41 79 121 0038", "+41-79 (121) 00.38", "+41791210038"])
def test_search__for_a_number_as_people_write_it__finds_it_as_it_is_stored(admin_client, term):
    row = NotificationFactory(channel="SMS", recipient="+41791210038")
    assert list(shown(admin_client, Notification, f"?{urlencode({'q': term})}")) == [row]


@pytest.mark.parametrize("term", ["ada@example.com", "ADA@example.com", "ref-1", "user-1", "order-1", " ref-1 "])
def test_search__exact_value__finds_the_notification(admin_client, rows, term):
    assert list(shown(admin_client, Notification, f"?q={term}")) == [rows[Notification]]


def test_detail__text_message__shows_its_segments(admin_client):
    texted = NotificationFactory(channel="SMS", content__body="x" * 161)
    mailed = NotificationFactory(channel="EMAIL", content__body="x" * 161)

    for model in (Notification, Content):
        assert (
            "2 (GSM-7, 153 characters each)" in admin_client.get(address(model, "change", texted.pk)).content.decode()
        )
        assert "GSM-7" not in admin_client.get(address(model, "change", mailed.pk)).content.decode()


def test_search__its_id__finds_the_notification_its_content_and_attempts(admin_client, rows):
    for model in (Notification, Content, Attempt):
        assert list(shown(admin_client, model, f"?q={rows[Notification].pk}")) == [rows[model]]


@pytest.mark.parametrize("model", [Notification, Content, Attempt])
@pytest.mark.parametrize("term", ["example", "%25", "00000000-0000-0000-0000-000000000000", "\u00e4 b"])
def test_search__part_of_a_value_or_unknown__finds_nothing(admin_client, rows, model, term):
    assert list(shown(admin_client, model, f"?q={term}")) == []


@pytest.mark.parametrize(("status", "count"), [("PENDING", 1), ("SENT", 0)])
def test_filter__status__keeps_those(admin_client, rows, status, count):
    assert len(shown(admin_client, Notification, f"?status={status}")) == count


@pytest.mark.parametrize("query", ["", "?status=PENDING", "?q=ref-1", "?channel__exact=EMAIL"])
def test_list__any_query__counts_no_further_than_its_limit(admin_client, rows, query):
    with CaptureQueriesContext(connection) as queries:
        shown(admin_client, Notification, query)
    counts = [q["sql"] for q in queries if "COUNT(" in q["sql"] and "notifications_notification" in q["sql"]]
    assert counts
    assert all(f"LIMIT {lists.COUNTED_MOST}" in sql for sql in counts)
    assert len([q for q in queries if q["sql"].startswith("SELECT")]) <= 14


def test_count__more_rows_than_counted__is_estimated(admin_client, rows, monkeypatch):
    monkeypatch.setattr(lists, "COUNTED_MOST", 10)
    Worker.objects.bulk_create([Worker(id=f"x{n}", role="delivery", host="h", pid=n) for n in range(200)])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE notifications_worker")
    assert 150 <= lists.EstimatingPaginator(Worker.objects.all(), 50).count <= 250


@pytest.mark.parametrize(
    ("rows_each", "pages", "is_cut"), [(50, 2, True), (3, 33, True), (100, 1, True), (300, 1, False)]
)
def test_pages__more_rows_than_are_gone_through__end_there(rows, monkeypatch, rows_each, pages, is_cut):
    monkeypatch.setattr(lists, "COUNTED_MOST", 100)
    Worker.objects.bulk_create([Worker(id=f"x{n}", role="delivery", host="h", pid=n) for n in range(200)])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE notifications_worker")
    paginator = lists.EstimatingPaginator(Worker.objects.order_by("id"), rows_each)
    assert (paginator.num_pages, paginator.is_cut) == (pages, is_cut)


def test_list__pages_end_before_its_rows__says_so(admin_client, rows, monkeypatch):
    monkeypatch.setattr(lists, "COUNTED_MOST", 50)
    Worker.objects.bulk_create([Worker(id=f"x{n}", role="delivery", host="h", pid=n) for n in range(200)])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE notifications_worker")
    assert "Pages end at 1:" in admin_client.get(address(Worker, "changelist")).content.decode()
    assert admin_client.get(address(Worker, "changelist"), {"p": 2}).status_code == 302


def test_count__takes_too_long__is_estimated(rows, monkeypatch):
    monkeypatch.setattr(lists, "COUNT_MILLISECONDS", 20)
    slow = Worker.objects.extra(where=["pg_sleep(1) IS NOT NULL"])
    assert lists.EstimatingPaginator(slow, 50).count >= 1
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


def test_list__notifications__the_last_error_stands_where_it_is_seen(admin_client, rows):
    Notification.objects.filter(pk=rows[Notification].pk).update(last_error_code="connect_failed")
    page = admin_client.get(address(Notification, "changelist")).content.decode()

    assert page.index("connect_failed") < page.index("ada@example.com")


def test_index__content__is_left_to_the_page_of_its_notification(admin_client, rows):
    page = admin_client.get(reverse("admin:index")).content.decode()

    assert address(Content, "changelist") not in page
    assert address(Notification, "changelist") in page


def test_list__clients__having_no_relay_is_no_fault(admin_client, rows):
    Client.objects.create(name="Plain")
    page = admin_client.get(address(Client, "changelist")).content.decode()

    assert "the service&#x27;s" in page
    assert "its own" in page
    assert "icon-no" not in page


def test_worker__silent_for_long__is_marked(admin_client, rows):
    Worker.objects.update(beat_at="2020-01-01T00:00Z")
    assert "nq-bad" in admin_client.get(address(Worker, "changelist")).content.decode()


@pytest.mark.parametrize(("term", "count"), [("user-1", 1), ("user", 0), ("?state=read", 0), ("?state=unread", 1)])
def test_inbox__searched_or_filtered__shows_those(admin_client, rows, term, count):
    query = term if term.startswith("?") else f"?q={term}"

    assert len(shown(admin_client, InboxEntry, query)) == count


def test_key__revoked_or_expired__says_so(admin_client, rows):
    ApiKey.objects.update(expires_at="2020-01-01T00:00Z")
    assert "expired" in admin_client.get(address(ApiKey, "changelist")).content.decode()
    ApiKey.objects.update(revoked_at="2020-01-01T00:00Z")
    assert "revoked" in admin_client.get(address(Client, "change", rows[Client].pk)).content.decode()


def test_style__without_collectstatic__is_served(client):
    response = client.get("/static/notifyq/console.css")
    assert response.status_code == 200
    assert b".nq-badge" in b"".join(response.streaming_content)


@pytest.mark.parametrize(
    "address",
    [
        "/admin/notifications/receipt/?status__exact=%00",
        "/admin/notifications/notification/?status__exact=%00",
        "/admin/notifications/attempt/?outcome=%00",
        "/admin/webhooks/webhookevent/?status=%00",
    ],
)
def test_list__filter_that_no_text_can_equal__is_no_fault_of_ours(admin_client, address):
    assert admin_client.get(address).status_code in (200, 302, 404)
