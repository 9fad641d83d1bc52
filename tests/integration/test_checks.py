"""System checks and security settings."""

import dataclasses
import os
import subprocess
import sys

import pytest
from django.db import DatabaseError, connections

from notifications.channel import Channel
from notifyq.checks import check_postgresql, check_providers, check_sandbox


def with_chains(settings, **chains):
    settings.DEBUG = False
    settings.NOTIFYQ = dataclasses.replace(
        settings.NOTIFYQ, provider_chains={channel: chains.get(channel, ("twilio",)) for channel in Channel}
    )


def test_sandbox_check__one_chain_ends_in_the_sandbox__warns_and_names_it(settings):
    with_chains(settings, SMS=("twilio", "sandbox:b"))
    (warning,) = check_sandbox()
    assert warning.id == "notifyq.W001"
    assert "SMS" in warning.msg
    assert "EMAIL" not in warning.msg


def test_sandbox_check__real_providers__is_silent(settings):
    with_chains(settings)
    assert check_sandbox() == []


def test_sandbox_check__debug__is_silent(settings):
    with_chains(settings, SMS=("sandbox",))
    settings.DEBUG = True
    assert check_sandbox() == []


def test_providers_check__chain_that_no_worker_can_build__warns_and_names_the_variable(settings):
    with_chains(settings, EMAIL=("nosuch",))
    (warning,) = check_providers()
    assert warning.id == "notifyq.W002"
    assert "NOTIFYQ_EMAIL_PROVIDERS names 'nosuch'" in warning.msg


def test_providers_check__usable_chains__is_silent(settings):
    with_chains(settings, **(dict.fromkeys(Channel, ("sandbox",)) | {"IN_APP": ("inbox",)}))
    assert check_providers() == []


@pytest.mark.django_db
@pytest.mark.parametrize(("version", "ids"), [(140_011, ["notifyq.E001"]), (150_000, []), (180_001, [])])
def test_postgresql_check__version__least_is_15(monkeypatch, version, ids):
    monkeypatch.setitem(connections["default"].__dict__, "pg_version", version)
    assert [found.id for found in check_postgresql(databases=["default"])] == ids


@pytest.mark.django_db
def test_postgresql_check__no_answer__says_so(monkeypatch):
    def refuse():
        raise DatabaseError("connection refused")

    monkeypatch.setattr(connections["default"], "ensure_connection", refuse)
    assert [found.id for found in check_postgresql(databases=["default"])] == ["notifyq.E002"]


def test_postgresql_check__no_database_asked_for__does_nothing():
    assert check_postgresql(databases=None) == []


def test_plain_http__debug_off_and_any_host__is_served_with_its_headers(client, settings):
    settings.DEBUG, settings.ALLOWED_HOSTS = False, ["*"]
    response = client.get("/health/live", headers={"host": "10.0.0.7:8000"})
    assert response.status_code == 200
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"


@pytest.mark.django_db
@pytest.mark.parametrize("secure", [False, True])
def test_login__cookie__is_hidden_from_scripts_and_secure_where_asked(client, settings, django_user_model, secure):
    settings.SESSION_COOKIE_SECURE = secure
    django_user_model.objects.create_superuser("ops", password="ops-password-1")
    client.post("/admin/login/", {"username": "ops", "password": "ops-password-1"})
    cookie = client.cookies["sessionid"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert bool(cookie["secure"]) is secure


def test_settings__behind_a_proxy_with_tls__cookies_are_secure():
    code = (
        "from notifyq import settings as s;"
        "print(s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, s.SECURE_PROXY_SSL_HEADER)"
    )
    environment = {**os.environ, "SECURE_COOKIES": "true", "TRUST_FORWARDED_PROTO": "true"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.split(maxsplit=2) == ["True", "True", "('HTTP_X_FORWARDED_PROTO', 'https')\n"], done.stderr
