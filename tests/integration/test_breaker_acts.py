"""What operators do with breakers and see of them: service, API, console, doctor, metrics."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from notifications import services
from notifications.errors import InvalidRequest, NotFound
from notifyq.doctor import Level
from notifyq.doctor import queue as looks
from notifyq.runtime.probe import probe
from tests.support.api import Caller
from tests.support.factories import ApiKeyFactory

pytestmark = pytest.mark.django_db
BREAKERS = "/api/v1/breakers"


@pytest.mark.parametrize(("channel", "provider"), [("EMAIL", "c"), ("FAX", "a"), ("SMS", "b:x")])
def test_operator__names_what_is_in_no_chain__is_not_found(chains: None, channel: str, provider: str) -> None:
    for act in (services.trip_breaker, services.reset_breaker):
        with pytest.raises(NotFound):
            act(channel, provider, by="ada")
    with pytest.raises(InvalidRequest):
        services.trip_breaker("EMAIL", "a", reason="two\nlines", by="ada")


def test_api__list_trip_and_reset__work_for_operators(chains: None, operator: Caller) -> None:
    listed = operator.get(BREAKERS).json()["results"]
    assert [(b["channel"], b["provider"], b["state"]) for b in listed] == [
        ("EMAIL", "a", "CLOSED"),
        ("EMAIL", "b:x", "CLOSED"),
        ("SMS", "a", "CLOSED"),
        ("PUSH", "a", "CLOSED"),
    ]

    tripped = operator.post(f"{BREAKERS}/EMAIL/b:x/trip", {"reason": "it is slow"})
    again = operator.post(f"{BREAKERS}/EMAIL/b:x/trip", {"reason": "another"})
    assert (tripped.status_code, again.json()) == (200, tripped.json())
    assert tripped.json()["lastAct"]["reason"] == "it is slow"
    assert (tripped.json()["state"], tripped.json()["trippedByOperator"]) == ("OPEN", True)
    assert operator.get("/api/v1/stats").json()["breakers"][1] == {
        "channel": "EMAIL",
        "provider": "b:x",
        "state": "OPEN",
        "trippedByOperator": True,
    }

    reset = operator.post(f"{BREAKERS}/EMAIL/b:x/reset", {})
    assert (reset.status_code, reset.json()["state"], reset.json()["trips"]) == (200, "CLOSED", 1)
    assert operator.post(f"{BREAKERS}/EMAIL/c/reset", {}).status_code == 404
    assert operator.post(f"{BREAKERS}/EMAIL/a/trip", {"colour": "red"}).status_code == 400


def test_console__resets_and_trips_by_action(chains: None, client: Any) -> None:
    client.force_login(get_user_model().objects.create_superuser("ada", password="x"))
    row = services.trip_breaker("SMS", "a", by="ada").row
    page = reverse("admin:notifications_providerhealth_changelist")
    assert client.get(page).status_code == 200
    for action, state in (("reset", "CLOSED"), ("trip", "OPEN")):
        confirmed = {"seen": f"{row.pk}:{row.acted_at}", "confirmed": "yes", "reason": f"to {action} it"}
        client.post(page, {"action": action, "_selected_action": [row.pk], **confirmed})
        row.refresh_from_db()
        assert (row.state, row.act_reason) == (state, f"to {action} it")
    assert client.get(reverse("admin:notifications_providerhealth_change", args=[row.pk])).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_watching__open_breakers__show_in_the_doctor_and_in_the_metrics(chains: None, client: Any) -> None:
    services.trip_breaker("EMAIL", "a", by="ada")
    with probe(5) as looking:
        finding = looks.breakers(looking)
    assert (finding.level, "a (EMAIL, by an operator)" in finding.text) == (Level.WARN, True)
    services.trip_breaker("SMS", "a", by="ada")
    with probe(5) as looking:
        assert looks.breakers(looking).level is Level.FAIL

    text = client.get("/metrics").content.decode()
    assert 'notifyq_breaker_state{channel="EMAIL",provider="a"} 2.0' in text
    assert 'notifyq_breaker_state{channel="EMAIL",provider="b:x"} 0.0' in text
    assert 'notifyq_channel_unavailable{channel="EMAIL"} 0.0' in text
    assert 'notifyq_channel_unavailable{channel="SMS"} 1.0' in text


@pytest.mark.parametrize("place", ["EMAIL/x%00y", "EMAIL/%00", "%00/sandbox", "EMAIL/nobody", "FAX/sandbox"])
@pytest.mark.parametrize("act", ["trip", "reset"])
def test_act__on_no_breaker__is_404(client, place: str, act: str) -> None:
    key = ApiKeyFactory(scopes=("operate",))
    answer = client.post(
        f"/api/v1/breakers/{place}/{act}",
        data="{}",
        content_type="application/json",
        headers={"Authorization": f"Bearer {key.secret}"},
    )
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"
