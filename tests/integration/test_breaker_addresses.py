"""Addresses of breakers that name none."""

from __future__ import annotations

import pytest

from tests.support.factories import ApiKeyFactory

pytestmark = pytest.mark.django_db


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
