"""The routes of webhooks: their keys and scopes, whose they are, and what the schema says of them."""

import pytest

from tests.support.webhook_api import Caller
from tests.support.webhook_rows import a_client, an_endpoint, an_event
from webhooks.api.schemas import COMPONENTS
from webhooks.api.urls import urlpatterns
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db


def routes():
    for pattern in urlpatterns:
        for method in getattr(pattern.callback, "view_class").http_method_names:  # noqa: B009
            if method != "head":
                yield method.upper(), str(pattern.pattern)


ROUTES = list(routes())


def path_of(route, endpoint, event):
    path = route.replace("<uuid:endpoint_id>", str(endpoint.pk)).replace("<uuid:event_id>", str(event.pk))
    return f"/api/v1/{path}"


def test_routes__of_this_app__are_all_there():
    assert len(ROUTES) == 11


@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_route__without_a_key_or_the_scope__is_refused(client, method, route):
    event = an_event()
    path = path_of(route, event.endpoint, event)

    assert client.generic(method, path).status_code == 401
    assert Caller(event.endpoint.client, scopes=("read",))(method, path).status_code == 403


@pytest.mark.parametrize(("method", "route"), [r for r in ROUTES if "<" in r[1]])
def test_route__of_another_client__is_404_and_an_operator_looks_and_sends_again(method, route):
    event = an_event(an_endpoint(client=a_client()), status=EventStatus.FAILED)
    path = path_of(route, event.endpoint, event)
    body = {"since": "2026-01-01T00:00:00Z"} if route.endswith("replay") else {} if method == "PATCH" else None
    may = method == "GET" or route.endswith(("replay", "redeliver"))

    assert Caller()(method, path, body).status_code == 404
    assert Caller(scopes=("send", "operate"))(method, path, body).status_code in ((200, 202) if may else (404,))
    assert Caller(scopes=("operate",))(method, path, body).status_code in ((200, 202) if may else (403,))


def test_secret__of_an_endpoint__is_given_to_a_key_that_may_send_for_its_client_alone():
    endpoint = an_endpoint(client=a_client())
    rotate = f"/api/v1/webhook-endpoints/{endpoint.pk}/rotate-secret"
    new = "/api/v1/webhook-endpoints", {"url": "https://hooks.example.com/x"}

    for scopes in (("operate",), ("read", "operate")):
        assert Caller(endpoint.client, scopes=scopes)("POST", rotate).status_code == 403
        assert Caller(endpoint.client, scopes=scopes)("POST", *new).status_code == 403
    assert Caller(scopes=("send", "operate"))("POST", rotate).status_code == 404
    endpoint.refresh_from_db()
    assert endpoint.previous_expires_at is None  # nobody has a new secret
    assert Caller(endpoint.client)("POST", rotate).json()["secret"].startswith("whsec_")


def test_schema__of_the_api__documents_every_route(client):
    document = client.get("/api/schema/").json()

    for method, route in ROUTES:
        path = "/api/v1/" + route.replace("<uuid:endpoint_id>", "{endpoint_id}").replace(
            "<uuid:event_id>", "{event_id}"
        )
        operation = document["paths"][path][method.lower()]
        assert operation["tags"] == ["webhooks"]
        assert operation["summary"]
    assert set(COMPONENTS) <= set(document["components"]["schemas"])
    assert "webhooks" in [tag["name"] for tag in document["tags"]]
