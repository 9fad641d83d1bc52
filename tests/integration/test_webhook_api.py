"""Webhook endpoints and events over HTTP."""

import dataclasses
import io
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.management import call_command
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from notifications import selectors
from notifyq import secrets
from tests.support.receiver import Receiver
from tests.support.webhook_api import ENDPOINTS, EVENTS, Caller, wrong_fields
from tests.support.webhook_rows import an_endpoint, an_event, notifications, reloaded, some_events
from webhooks import services
from webhooks.api.schemas import COMPONENTS
from webhooks.models import WebhookAttempt, WebhookEndpoint, WebhookEvent
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db
committing = pytest.mark.django_db(transaction=True)

URL = "https://hooks.example.com/a"


@pytest.fixture
def caller(db):
    return Caller()


@pytest.fixture
def private_allowed(settings):
    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, webhook_allow_private_addresses=True)


def follows(schema, document):
    text = {"components": {"schemas": COMPONENTS}}
    Draft202012Validator({"$ref": f"#/components/schemas/{schema}", **text}).validate(document)
    return document


def made(caller, **fields):
    response = caller("POST", ENDPOINTS, {"url": URL} | fields)
    assert response.status_code == 201, response.content
    return follows("WebhookEndpointWithSecret", response.json())


def test_create__only_a_url__has_the_defaults_and_shows_the_secret_once(caller):
    response = caller("POST", ENDPOINTS, {"url": URL})

    document = follows("WebhookEndpointWithSecret", response.json())
    assert response.status_code == 201
    assert response["Location"].endswith(f"{ENDPOINTS}/{document['id']}")
    assert document["secret"].startswith("whsec_")
    assert document["events"] == ["SENT", "FAILED", "DEAD_LETTERED"]
    assert (document["enabled"], document["description"], document["disabledReason"]) == (True, "", None)
    read = caller("GET", f"{ENDPOINTS}/{document['id']}").json()
    assert follows("WebhookEndpoint", read) == {k: v for k, v in document.items() if k != "secret"}
    row = WebhookEndpoint.objects.get()
    assert document["secret"] not in row.secret_encrypted
    assert secrets.decrypt(row.secret_encrypted) == document["secret"]
    assert row.client == caller.client


def test_create__all_fields__keeps_them(caller):
    document = made(caller, description="Orders", events=["EXPIRED", "CANCELLED", "EXPIRED"], enabled=False)

    assert (document["description"], document["events"]) == ("Orders", ["EXPIRED", "CANCELLED"])
    assert (document["enabled"], document["disabledAt"] is not None) == (False, True)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {"url": "required"}),
        ({"url": None}, {"url": "required"}),
        ({"url": ""}, {"url": "required"}),
        ({"url": 7}, {"url": "not_a_string"}),
        ({"url": "http://hooks.example.com/"}, {"url": "wrong_scheme"}),
        ({"url": "https://u:p@hooks.example.com/"}, {"url": "has_credentials"}),
        ({"url": "https://2130706433/"}, {"url": "private_address"}),
        ({"url": "https://localhost/"}, {"url": "local_name"}),
        ({"url": URL, "events": []}, {"events": "not_an_option"}),
        ({"url": URL, "events": ["PENDING"]}, {"events": "not_an_option"}),
        ({"url": URL, "events": "SENT"}, {"events": "not_an_option"}),
        ({"url": URL, "events": [["SENT"]]}, {"events": "not_an_option"}),
        ({"url": URL, "enabled": "yes"}, {"enabled": "not_a_boolean"}),
        ({"url": URL, "description": "a\r\nb"}, {"description": "control_character"}),
        ({"url": URL, "description": "a" * 256}, {"description": "too_long"}),
        ({"url": URL, "secret": "whsec_x"}, {"secret": "unknown"}),
        (
            {"url": "no", "events": [], "enabled": 1},
            {"url": "not_a_url", "events": "not_an_option", "enabled": "not_a_boolean"},
        ),
    ],
)
def test_create__wrong__names_every_field_and_stores_nothing(caller, body, errors):
    assert wrong_fields(caller("POST", ENDPOINTS, body)) == errors
    assert not WebhookEndpoint.objects.exists()


def test_create__private_address_where_allowed__is_fine(caller, private_allowed):
    assert made(caller, url="http://127.0.0.1:9000/hook")["url"] == "http://127.0.0.1:9000/hook"


def test_create__the_twenty_first__is_409(caller):
    for _ in range(services.ENDPOINTS_MOST):
        an_endpoint(client=caller.client)

    response = caller("POST", ENDPOINTS, {"url": URL})

    assert response.status_code == 409
    assert response.json()["type"].endswith("too-many-endpoints")


def test_list__of_endpoints__has_the_clients_own_newest_first_in_pages(caller):
    mine = [str(an_endpoint(client=caller.client).pk) for _ in range(3)]
    an_endpoint()
    an_endpoint(client=caller.client, enabled=False, deleted_at="2026-01-01T00:00:00Z")

    first = follows("WebhookEndpointPage", caller("GET", ENDPOINTS, query={"limit": "2"}).json())
    rest = caller("GET", first["next"].removeprefix("http://testserver")).json()

    assert [e["id"] for e in [*first["results"], *rest["results"]]] == mine[::-1]
    assert "secret" not in first["results"][0]


@committing
def test_patch__some_fields__changes_only_those(caller):
    endpoint = made(caller, description="Orders")

    response = caller("PATCH", f"{ENDPOINTS}/{endpoint['id']}", {"events": ["FAILED"], "description": None})

    changed = follows("WebhookEndpoint", response.json())
    assert (changed["events"], changed["description"], changed["url"]) == (["FAILED"], "Orders", URL)
    assert changed["updatedAt"] > endpoint["updatedAt"]
    assert caller("PATCH", f"{ENDPOINTS}/{endpoint['id']}", {"description": ""}).json()["description"] == ""


def test_patch__wrong__is_400_and_changes_nothing(caller):
    endpoint = made(caller)

    response = caller("PATCH", f"{ENDPOINTS}/{endpoint['id']}", {"url": "https://10.0.0.1/", "id": "x"})

    assert wrong_fields(response) == {"id": "unknown"}
    assert wrong_fields(caller("PATCH", f"{ENDPOINTS}/{endpoint['id']}", {"url": "https://10.0.0.1/"})) == {
        "url": "private_address"
    }
    assert wrong_fields(caller("PATCH", f"{ENDPOINTS}/{endpoint['id']}", {"url": ""})) == {"url": "required"}
    assert WebhookEndpoint.objects.get().url == URL


def test_patch__disabled__cancels_what_waits_and_enabled_makes_a_new_beginning(caller):
    endpoint = an_endpoint(client=caller.client, failing_since=selectors.database_now())
    event = an_event(endpoint)

    off = caller("PATCH", f"{ENDPOINTS}/{endpoint.pk}", {"enabled": False}).json()
    assert (off["enabled"], off["disabledReason"], off["disabledAt"] is not None) == (False, None, True)
    assert reloaded(event).status == EventStatus.CANCELLED

    on = caller("PATCH", f"{ENDPOINTS}/{endpoint.pk}", {"enabled": True}).json()
    assert (on["enabled"], on["disabledAt"], on["failingSince"]) == (True, None, None)


def test_delete__an_endpoint__is_204_forgets_the_secret_and_keeps_the_history(caller):
    endpoint = an_endpoint(client=caller.client)
    waiting, done = an_event(endpoint), an_event(endpoint, status=EventStatus.DELIVERED)

    assert caller("DELETE", f"{ENDPOINTS}/{endpoint.pk}").status_code == 204
    assert caller("GET", f"{ENDPOINTS}/{endpoint.pk}").status_code == 404
    assert caller("DELETE", f"{ENDPOINTS}/{endpoint.pk}").status_code == 404

    endpoint.refresh_from_db()
    assert (endpoint.secret_encrypted, endpoint.enabled) == ("", False)
    assert reloaded(waiting).status == EventStatus.CANCELLED
    assert caller("GET", f"{EVENTS}/{done.pk}").status_code == 200


def test_rotate__a_secret__keeps_the_old_one_for_a_day(caller):
    endpoint = made(caller)

    response = caller("POST", f"{ENDPOINTS}/{endpoint['id']}/rotate-secret")

    rotated = follows("WebhookEndpointWithSecret", response.json())
    row = WebhookEndpoint.objects.get()
    assert row.previous_expires_at is not None
    left = (row.previous_expires_at - selectors.database_now()).total_seconds()
    assert response.status_code == 200
    assert rotated["secret"] != endpoint["secret"]
    assert secrets.decrypt(row.secret_encrypted) == rotated["secret"]
    assert secrets.decrypt(row.previous_secret_encrypted) == endpoint["secret"]
    assert 86_300 < left <= 86_400
    assert rotated["previousSecretExpiresAt"] is not None


@committing
def test_test_event__of_an_endpoint__is_delivered_like_any_other(caller, private_allowed):
    with Receiver() as receiver:
        endpoint = made(caller, url=receiver.url)
        response = caller("POST", f"{ENDPOINTS}/{endpoint['id']}/test")
        call_command("dispatch_webhooks", stdout=io.StringIO())
        (request,) = receiver.requests

    event = follows("WebhookEvent", response.json())
    assert response.status_code == 202
    assert (event["type"], event["status"], event["notificationId"]) == ("webhook.test", "PENDING", None)
    document = request.verify(endpoint["secret"])
    assert document["eventId"] == request.event_id == event["eventId"]
    assert document["type"] == "webhook.test"
    assert caller("GET", f"{EVENTS}/{event['eventId']}").json()["status"] == "DELIVERED"


@pytest.mark.parametrize("act", ["test", "replay"])
def test_acts__on_a_disabled_endpoint__are_409(caller, act):
    endpoint = an_endpoint(client=caller.client, enabled=False)

    response = caller(
        "POST", f"{ENDPOINTS}/{endpoint.pk}/{act}", {"since": "2026-01-01T00:00:00Z"} if act == "replay" else None
    )

    assert response.status_code == 409
    assert response.json()["type"].endswith("endpoint-disabled")


def test_replay__a_range__queues_its_finished_events_again_with_their_ids(caller):
    endpoint = an_endpoint(client=caller.client)
    now = selectors.database_now()
    before, first, last, after = (
        an_event(endpoint, status=status, created_at=now + timedelta(minutes=offset), attempt_count=3)
        for status, offset in [("DELIVERED", -61), ("FAILED", -60), ("DELIVERED", -31), ("DELIVERED", -30)]
    )
    foreign = an_event(status=EventStatus.FAILED, created_at=now - timedelta(minutes=45))

    response = caller(
        "POST",
        f"{ENDPOINTS}/{endpoint.pk}/replay",
        {"since": (now - timedelta(minutes=60)).isoformat(), "until": (now - timedelta(minutes=30)).isoformat()},
    )

    assert follows("WebhookReplayed", response.json()) == {"replayed": 2, "nextSince": None}
    assert {e.pk for e in WebhookEvent.objects.filter(status=EventStatus.PENDING)} == {first.pk, last.pk}
    again = reloaded(first)
    assert (again.attempt_count, again.cycle, again.finished_at, again.body) == (0, 2, None, first.body)
    assert {reloaded(e).cycle for e in (before, after, foreign)} == {1}


def test_replay__by_status__leaves_the_delivered_ones_alone(caller):
    endpoint = an_endpoint(client=caller.client)
    for status in ("DELIVERED", "FAILED", "CANCELLED"):
        an_event(endpoint, status=status)

    response = caller(
        "POST",
        f"{ENDPOINTS}/{endpoint.pk}/replay",
        {"since": "2020-01-01T00:00:00Z", "status": ["FAILED", "CANCELLED"]},
    )

    assert response.json()["replayed"] == 2
    assert WebhookEvent.objects.filter(status="DELIVERED").count() == 1


def test_replay__more_than_one_call_may__tells_where_to_go_on(caller):
    endpoint = an_endpoint(client=caller.client)
    some_events(endpoint, 1002, status=EventStatus.FAILED)
    for number, event in enumerate(WebhookEvent.objects.order_by("id")):
        WebhookEvent.objects.filter(pk=event.pk).update(created_at=event.created_at + timedelta(milliseconds=number))
    path = f"{ENDPOINTS}/{endpoint.pk}/replay"
    until = (selectors.database_now() + timedelta(minutes=5)).isoformat()

    first = caller("POST", path, {"since": "2020-01-01T00:00:00Z", "until": until}).json()
    second = caller("POST", path, {"since": first["nextSince"], "until": until}).json()

    assert (first["replayed"], second) == (1000, {"replayed": 2, "nextSince": None})
    assert not WebhookEvent.objects.exclude(cycle=2).exists()


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {"since": "required"}),
        ({"since": "yesterday"}, {"since": "not_a_time"}),
        ({"since": "2026-01-01T00:00:00"}, {"since": "no_offset"}),
        ({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, {"until": "out_of_range"}),
        ({"since": "2026-01-01T00:00:00Z", "status": ["PENDING"]}, {"status": "not_an_option"}),
        ({"since": "2026-01-01T00:00:00Z", "limit": 5}, {"limit": "unknown"}),
    ],
)
def test_replay__wrong__names_the_field(caller, body, errors):
    endpoint = an_endpoint(client=caller.client)

    assert wrong_fields(caller("POST", f"{ENDPOINTS}/{endpoint.pk}/replay", body)) == errors


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-12-31T00:00:00Z"])
def test_replay__times_at_the_ends_of_the_calendar__are_fine(caller, since):
    endpoint = an_endpoint(client=caller.client)

    body = {"since": since, "until": "9999-12-31T23:59:59.999999Z"}
    assert caller("POST", f"{ENDPOINTS}/{endpoint.pk}/replay", body).json()["replayed"] == 0


def test_redeliver__a_finished_event__is_queued_from_the_start(caller):
    event = an_event(an_endpoint(client=caller.client), status=EventStatus.FAILED, attempt_count=10)

    response = caller("POST", f"{EVENTS}/{event.pk}/redeliver")

    again = follows("WebhookEvent", response.json())
    assert response.status_code == 202
    assert (again["eventId"], again["status"], again["attemptCount"]) == (str(event.pk), "PENDING", 0)


def test_redeliver__a_waiting_event__is_due_now_with_its_attempts_counted(caller):
    later = selectors.database_now() + timedelta(hours=5)
    event = an_event(an_endpoint(client=caller.client), due_at=later, attempt_count=4)

    caller("POST", f"{EVENTS}/{event.pk}/redeliver")

    again = reloaded(event)
    assert again.due_at <= selectors.database_now()
    assert (again.attempt_count, again.cycle) == (4, 1)


def test_redeliver__one_on_its_way_or_of_a_disabled_endpoint__is_409(caller):
    held = an_event(an_endpoint(client=caller.client), status=EventStatus.PROCESSING)
    disabled = an_event(an_endpoint(client=caller.client, enabled=False), status=EventStatus.CANCELLED)

    kinds = [caller("POST", f"{EVENTS}/{e.pk}/redeliver").json()["type"].rpartition(":")[2] for e in (held, disabled)]

    assert kinds == ["being-delivered", "endpoint-disabled"]


def test_events__with_filters__are_the_clients_own_that_match(caller):
    endpoint = an_endpoint(client=caller.client)
    (notification,) = notifications(1, client=caller.client)
    told = an_event(endpoint, notification_id=notification, status=EventStatus.DELIVERED)
    other = an_event(an_endpoint(client=caller.client))
    an_event()

    def ids(**query):
        page = follows("WebhookEventPage", caller("GET", EVENTS, query=query).json())
        return [e["eventId"] for e in page["results"]]

    assert ids() == [str(other.pk), str(told.pk)]
    assert ids(notificationId=str(notification)) == [str(told.pk)]
    assert ids(endpointId=str(endpoint.pk)) == [str(told.pk)]
    assert ids(status="PENDING") == [str(other.pk)]
    assert ids(status="PENDING", endpointId=str(endpoint.pk)) == []


@pytest.mark.parametrize(
    "query",
    [{"status": "SENT"}, {"endpointId": "x"}, {"notificationId": "x"}, {"limit": "0"}, {"nope": "1"}, {"cursor": "x"}],
)
def test_events__wrong_parameter__is_named(caller, query):
    assert list(wrong_fields(caller("GET", EVENTS, query=query))) == list(query)


def test_event__in_full__has_its_payload_and_attempts(caller):
    event = an_event(an_endpoint(client=caller.client), status=EventStatus.FAILED, last_error_code="http_500")
    WebhookAttempt.objects.create(
        event=event,
        cycle=1,
        number=1,
        response_status=500,
        response_excerpt="no",
        error_code="http_500",
        started_at="2026-01-01T00:00:00Z",
        finished_at="2026-01-01T00:00:00.250Z",
        worker_id="w",
        claim_token=uuid4(),
    )

    document = follows("WebhookEventInFull", caller("GET", f"{EVENTS}/{event.pk}").json())

    assert document["payload"]["eventId"] == str(event.pk)
    assert document["attempts"] == [
        {
            "cycle": 1,
            "number": 1,
            "responseStatus": 500,
            "responseExcerpt": "no",
            "errorCode": "http_500",
            "startedAt": "2026-01-01T00:00:00.000000Z",
            "finishedAt": "2026-01-01T00:00:00.250000Z",
            "durationMs": 250,
        }
    ]


def test_notification__read_in_full__shows_its_webhook_events(caller):
    (notification,) = notifications(1, client=caller.client)
    event = an_event(an_endpoint(client=caller.client), notification_id=notification)

    document = caller("GET", f"/api/v1/notifications/{notification}").json()

    assert [follows("WebhookEvent", e)["eventId"] for e in document["webhookEvents"]] == [str(event.pk)]
