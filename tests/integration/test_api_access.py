"""Keys, scopes and what every answer has in common."""

import io
import json
import logging
from datetime import timedelta

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client as HttpClient
from django.utils import timezone

from notifications import accounts, selectors, services
from notifications.models import ApiKey, Notification
from notifications.status import Status
from notifyq.runtime.logs import JsonFormatter
from tests.support.api import NOTIFICATIONS, Caller, email, fields_of
from tests.support.factories import ApiKeyFactory, ClientFactory, NotificationFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer nope",
        "Basic dXNlcjpwYXNz",
        "Bearer nq_aaaaaaaaaa_" + "x" * 43,
        "Bearer \xff",
    ],
)
def test_key__missing_or_unknown__is_401(header):
    headers = {} if header is None else {"Authorization": header}

    response = HttpClient(headers=headers).get(NOTIFICATIONS)

    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert fields_of(response) == []


@pytest.mark.parametrize(
    "columns",
    [
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"revoked_at": timezone.now() - timedelta(seconds=1)},
    ],
)
def test_key__expired_or_revoked__is_401(columns):
    assert Caller(**columns).get().status_code == 401


def test_key__client_disabled__is_401(caller):
    caller.client.disabled_at = timezone.now() - timedelta(seconds=1)
    caller.client.save(update_fields=["disabled_at"])

    assert caller.get().status_code == 401


def test_key__expires_later__is_accepted():
    assert Caller(expires_at=timezone.now() + timedelta(hours=1)).get().status_code == 200


def test_key__right_prefix_wrong_secret__is_401(caller):
    wrong = caller.key.secret[:-1] + ("A" if caller.key.secret[-1] != "A" else "B")

    assert HttpClient(headers={"Authorization": f"Bearer {wrong}"}).get(NOTIFICATIONS).status_code == 401


def test_key__used__is_noted_once_a_minute(caller, django_assert_num_queries):
    caller.get()
    first = ApiKey.objects.values_list("last_used_at", flat=True).get()
    assert first
    with django_assert_num_queries(2):
        caller.get()
    assert ApiKey.objects.filter(last_used_at=first).exists()

    ApiKey.objects.update(last_used_at=first - timedelta(minutes=2))
    caller.get()

    assert ApiKey.objects.filter(last_used_at__gte=first).exists()


def test_key__is_stored__only_as_a_hash(caller):
    stored = str(ApiKey.objects.values().get())

    assert caller.key.secret.split("_", 2)[2] not in stored


@pytest.mark.parametrize(("scopes", "status"), [(("read",), 403), (("send",), 201), (("operate",), 201)])
def test_scope__create__needs_send_or_operate(scopes, status):
    assert Caller(scopes=scopes).post(body=email()).status_code == status


@pytest.mark.parametrize("scopes", [("read",), ("send",), ("operate",)])
def test_scope__list__needs_any(scopes):
    assert Caller(scopes=scopes).get().status_code == 200


def test_scope__wrong__answers_403_before_reading_the_body():
    response = Caller(scopes=("read",)).post(body=b"{")

    assert response.status_code == 403
    assert fields_of(response) == []


@pytest.mark.parametrize("sent", ["abc-123", "x" * 128, "!~"])
def test_request_id__sane__is_taken_over(caller, sent):
    assert caller.get(X_Request_Id=sent)["X-Request-Id"] == sent


@pytest.mark.parametrize("sent", ["", "x" * 129, "a b", "ü", "a\tb"])
def test_request_id__not_sane__is_made_anew(caller, sent):
    made = caller.get(X_Request_Id=sent)["X-Request-Id"]

    assert made != sent
    assert len(made) == 36


@pytest.mark.parametrize("path", ["/", "/api/nope", "/nope", "/api/schema/", "/admin/login/", NOTIFICATIONS])
def test_request_id__every_answer__has_one(path):
    assert HttpClient().get(path)["X-Request-Id"]


def test_request_id__log_lines__carry_it(caller, monkeypatch):
    lines = []

    class Keep(logging.Handler):
        def emit(self, record):
            lines.append(json.loads(JsonFormatter().format(record)))

    monkeypatch.setattr(selectors, "listed", lambda *_: 1 / 0)
    handler = Keep()
    logging.getLogger().addHandler(handler)
    try:
        assert caller.get(X_Request_Id="abc").status_code == 500
    finally:
        logging.getLogger().removeHandler(handler)

    assert [(line["request_id"], line["error"]) for line in lines] == [("abc", "ZeroDivisionError")]


@pytest.mark.parametrize("path", ["/api/", "/api/nope", "/api/v1/nope", "/api/v2/notifications", NOTIFICATIONS + "/"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_unknown_address__below_api__is_a_problem_document(caller, path, method):
    response = caller.request(method, path)

    assert response.status_code == 404
    assert fields_of(response) == []


@pytest.mark.parametrize(("path", "hinted"), [(NOTIFICATIONS + "/", True), ("/api/v1/nope/", False)])
def test_unknown_address__known_but_for_its_slash__says_so(caller, path, hinted):
    assert ("slash" in caller.post(path, body={}).json()["detail"]) is hinted


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", NOTIFICATIONS, {"GET", "HEAD", "POST"}),
        ("OPTIONS", NOTIFICATIONS, {"GET", "HEAD", "POST"}),
        ("PROPFIND", NOTIFICATIONS, {"GET", "HEAD", "POST"}),
        ("DELETE", NOTIFICATIONS + "/01a22cbf-5d05-7797-8b38-3cc29ff8d9c8", {"GET", "HEAD"}),
        ("GET", NOTIFICATIONS + "/01a22cbf-5d05-7797-8b38-3cc29ff8d9c8/cancel", {"POST"}),
    ],
)
def test_method__not_there__is_405_with_allow(caller, method, path, allowed):
    response = caller.request(method, path)

    assert response.status_code == 405
    assert set(response["Allow"].split(", ")) == allowed
    assert fields_of(response) == []


def test_head__list__answers_like_get_without_a_body(caller):
    response = caller.request("HEAD", NOTIFICATIONS)

    assert (response.status_code, response.content) == (200, b"")


def test_accept__not_json__is_406(caller):
    response = caller.get(Accept="text/html")

    assert response.status_code == 406
    assert fields_of(response) == []


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/html, */*;q=0.1", "application/*"])
def test_accept__json_among_others__is_answered(caller, accept):
    assert caller.get(Accept=accept).status_code == 200


def test_body__over_one_mebibyte__is_413(caller):
    response = caller.post(body=email(body="x" * (1 << 20)))

    assert response.status_code == 413
    assert fields_of(response) == []
    assert not Notification.objects.exists()


def test_body__longer_than_stated__is_read_only_so_far(caller):
    response = caller.request(
        "POST", NOTIFICATIONS, data=json.dumps(email()).encode(), content_type="application/json", CONTENT_LENGTH="10"
    )

    assert response.status_code == 400


@pytest.mark.parametrize("stated", ["x", "-1", ""])
def test_body__length_is_nonsense__is_an_error_of_the_request(caller, stated):
    response = caller.request(
        "POST", NOTIFICATIONS, data=json.dumps(email()).encode(), content_type="application/json", CONTENT_LENGTH=stated
    )

    assert response.status_code == 400


def chunked(caller, raw, **environ):
    environ["wsgi.input"] = io.BytesIO(raw)
    return caller.request(
        "POST",
        NOTIFICATIONS,
        CONTENT_TYPE="application/json",
        CONTENT_LENGTH="",
        HTTP_TRANSFER_ENCODING="chunked",
        **environ,
    )


def test_body__chunked__is_read_where_the_server_marks_its_end(caller):
    raw = json.dumps(email()).encode()

    assert chunked(caller, raw, **{"wsgi.input_terminated": True}).status_code == 201
    assert chunked(caller, raw).status_code == 411


def test_body__chunked_and_too_long__is_413(caller):
    raw = json.dumps(email(body="x" * (1 << 20))).encode()

    assert chunked(caller, raw, **{"wsgi.input_terminated": True}).status_code == 413


@pytest.mark.parametrize("error", [OperationalError("secret-9f3"), InterfaceError("secret-9f3")])
@pytest.mark.parametrize("broken", ["authenticate", "submit"])
def test_database_away__any_call__is_503_with_retry_after(caller, monkeypatch, caplog, error, broken):
    def away(*args, **kwargs):
        raise error

    monkeypatch.setattr(*((accounts, broken) if broken == "authenticate" else (services, broken)), away)

    response = caller.post(body=email())

    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    assert fields_of(response) == []
    assert "9f3" not in response.content.decode() + caplog.text
    assert len([r for r in caplog.records if r.levelno >= logging.ERROR]) == 1


def test_bug__any_call__is_500_that_tells_nothing_and_is_logged_once(caller, monkeypatch, caplog):
    def broken(**kwargs):
        raise ValueError("secret-9f3")

    monkeypatch.setattr(services, "submit", broken)

    response = caller.post(body=email())

    assert response.status_code == 500
    assert fields_of(response) == []
    assert "9f3" not in response.content.decode() + caplog.text
    assert [r.message for r in caplog.records if r.levelno >= logging.ERROR] == ["request_failed"]


def test_answer__with_private_data__is_not_to_be_cached(caller):
    assert caller.get()["Cache-Control"] == "no-store"


def test_host__not_allowed__is_a_problem_document_below_api(caller):
    response = caller.get(Host="evil.example")

    assert response.status_code == 400
    assert fields_of(response) == []


def test_debug__unknown_address__is_a_problem_document_too(caller, settings):
    settings.DEBUG = True

    assert fields_of(caller.get("/api/v1/nope")) == []


@pytest.mark.parametrize(("path", "to"), [("/api/docs", "/api/docs/"), ("/api/schema", "/api/schema/")])
def test_page__slash_forgotten__leads_there(path, to):
    response = HttpClient().get(path)

    assert (response.status_code, response["Location"]) == (301, to)


def test_landing_page__anybody__finds_the_parts():
    text = HttpClient().get("/").content.decode()

    parts = ("/api/docs/", "/api/schema/", "/api/docs/#/webhooks", "/admin/", "/health/ready", "/metrics")
    assert all(f'href="{part}"' in text for part in parts)
    assert "Idempotency-Key" in text
    assert ".data/demo_api_key" in text


def test_docs_page__anybody__needs_nothing_from_elsewhere():
    text = HttpClient().get("/api/docs/").content.decode()

    assert "swagger-ui" in text
    assert "https://" not in text


def test_sender_settings__clients_with_any__are_decrypted(settings):
    plain, own, address = ClientFactory(), ClientFactory(), ClientFactory(email_from="a@example.com")
    accounts.set_sender(own, smtp_url="smtps://user:pass-9f3@mail.example.com", email_from="b@example.com")

    assert selectors.sender_settings([plain.pk, own.pk, address.pk]) == {
        own.pk: {"smtp_url": "smtps://user:pass-9f3@mail.example.com", "email_from": "b@example.com"},
        address.pk: {"email_from": "a@example.com"},
    }
    own.refresh_from_db()
    assert "9f3" not in own.smtp_url_encrypted


def test_sender_settings__keys_rotated__still_opens_until_the_old_key_is_gone(settings):
    client = ClientFactory()
    settings.ENCRYPTION_KEYS = ["old key"]
    accounts.set_sender(client, smtp_url="smtp://mail.example.com")

    settings.ENCRYPTION_KEYS = ["new key", "old key"]
    assert selectors.sender_settings([client.pk])[client.pk]["smtp_url"] == "smtp://mail.example.com"

    settings.ENCRYPTION_KEYS = ["new key"]
    assert selectors.sender_settings([client.pk])[client.pk]["smtp_url"] == selectors.UNREADABLE_SMTP_URL


def test_factory__key__works():
    assert accounts.authenticate(ApiKeyFactory().secret)


def test_factory__each_state__is_accepted_by_the_database():
    assert {NotificationFactory(status=s).status for s in Status} == set(Status)
