"""Settings that nothing good could come of: each stops the start with one line that names it, without a secret."""

from __future__ import annotations

import pytest

from notifications.errors import ConfigurationError
from notifyq.database_setting import database_config, database_url
from notifyq.env import Config, Environment

SECRET = "s3same"


def refused(read, *arguments):
    with pytest.raises(ConfigurationError) as wrong:
        read(*arguments)
    text = str(wrong.value)
    assert len(text.splitlines()) == 1
    assert SECRET not in text
    return text


def read_database(monkeypatch, url):
    monkeypatch.setenv("DATABASE_URL", url)
    return database_config("unused")


@pytest.mark.parametrize(
    "url",
    [
        "postgres://h:99999/x",
        "postgres://h:abc/x",
        "postgres://h:0/x",
        "postgres://h1:5432,h2:70000/x",
        "postgres://h1:abc,h2:5432/x",
        "postgres://[::1/x",
        f"postgres://u:{SECRET}/w@h/x",
        f"postgres://u:{SECRET}?w@h/x",
        f"postgres://u:{SECRET}\n@h/x",
        f"postgres://u:{SECRET}%00@h/x",
        "postgres://h",
        "postgres://h/",
        f"postgres://h/{'x' * 64}",
        "postgres://h/x?zz=abc",
        "postgres://h/x?z%0Az=abc",
        "postgres://h/x?pool=true",
        "postgres://h/x?connect_timeout=soon",
        "postgres://h/x?keepalives_idle=soon",
        "postgres://h/x?port=abc",
        "postgres://h/x?port=70000",
        "postgres://h/x?isolation_level=9",
        "postgres://h/x?prepare_threshold=abc",
        "postgres://h/x?sslmode=maybe",
        "postgres://h/x?gssencmode=maybe",
        "postgres://h/x?target_session_attrs=any-will-do",
        "postgres://h/x?sslmode=disable&sslrootcert=system",
        "postgres://h/?service=nobody-defined-it",
        "mysql://h/x",
    ],
)
def test_database_url__that_can_never_lead_to_a_database__is_refused(url, monkeypatch, tmp_path):
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "none"))
    assert refused(read_database, monkeypatch, url).startswith("DATABASE_URL ")


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("postgres://u:p%40%2Fw@h:5433/x", {"HOST": "h", "PORT": 5433, "USER": "u", "PASSWORD": "p@/w", "NAME": "x"}),
        ("postgres://u:p#w@h/x\n", {"PASSWORD": "p#w", "NAME": "x"}),
        ("postgres://[::1]:5432/x", {"HOST": "::1", "PORT": 5432}),
        ("postgres://h1:5432,h2:5433/x?target_session_attrs=read-write", {"HOST": "h1,h2", "PORT": "5432,5433"}),
        ("postgres://u:p@/x?host=%2Frun%2Fp&port=5432", {"HOST": "/run/p", "PORT": "5432", "OPTIONS": {}}),
        ("postgres://h/x?sslmode=verify-full&sslrootcert=/ca.pem", {"HOST": "h"}),
        ("postgres://h/x?sslmode=require&gssencmode=prefer&application_name=it's", {"HOST": "h"}),
        ("postgres://h/x?connect_timeout=3&isolation_level=2&prepare_threshold=5", {"HOST": "h"}),
        ("postgres://h/x?options=-c%20statement_timeout%3D5s", {"OPTIONS": {"options": "-c statement_timeout=5s"}}),
    ],
)
def test_database_url__of_a_server_that_may_be_away__is_taken(url, parts, monkeypatch):
    config = read_database(monkeypatch, url)
    assert {name: config[name] for name in parts} == parts
    assert database_url() == url.strip()


def test_database_url__beside_variables_of_libpq__is_judged_alone(monkeypatch):
    for name, value in {"PGHOSTADDR": "127.0.0.1", "PGPORT": "1,2", "PGGSSENCMODE": "require"}.items():
        monkeypatch.setenv(name, value)
    assert read_database(monkeypatch, "postgres://h/x?sslmode=prefer")["HOST"] == "h"


ORIGINS = [
    "https://[x",
    "https://h:99999",
    "https://h:abc",
    "https://h:0",
    "https://h/path",
    "https://",
    "h.example",
    "https://a b",
    f"https://u:{SECRET}@h",
    "a\nb",
    "https://a\nb",
]


@pytest.mark.parametrize("value", ORIGINS)
def test_origins__wrong__are_one_line(value):
    env = Environment({"CSRF_TRUSTED_ORIGINS": value}, prefix="")
    assert refused(env.origins, "CSRF_TRUSTED_ORIGINS").startswith("CSRF_TRUSTED_ORIGINS must be origins")


def test_origins__right__are_taken():
    env = Environment({"CSRF_TRUSTED_ORIGINS": "https://a.example, http://[::1]:8000,https://*.example.com"}, prefix="")
    assert env.origins("CSRF_TRUSTED_ORIGINS") == ("https://a.example", "http://[::1]:8000", "https://*.example.com")


@pytest.mark.parametrize("value", ["https://h", "h:8000", "h/path", "*.example.com", "a\nb", "[::1", "u@h"])
def test_hosts__wrong__are_one_line(value):
    env = Environment({"ALLOWED_HOSTS": value}, prefix="")
    assert refused(env.hosts, "ALLOWED_HOSTS", "").startswith("ALLOWED_HOSTS must be host names")


def test_hosts__right__are_taken():
    right = ("localhost", "127.0.0.1", "[::1]", ".example.com", "*", "api_1")
    assert Environment({"ALLOWED_HOSTS": ",".join(right)}, prefix="").hosts("ALLOWED_HOSTS", "") == right


@pytest.mark.parametrize(
    "value", ["https://[x", "https://h:abc", "https://h:99999", "https://a\nb", "https://a b", "h"]
)
def test_url__wrong__is_one_line(value):
    text = refused(Config.load, Environment({"NOTIFYQ_RECEIPTS_URL": value}))
    assert text.startswith("NOTIFYQ_RECEIPTS_URL must be")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("POLL_SECONDS", "0.049"),
        ("POLL_SECONDS", "1e-9"),
        ("SEND_TIMEOUT_SECONDS", "1e-9"),
        ("SEND_TIMEOUT_SECONDS_SMS", "0.09"),
        ("WEBHOOK_TIMEOUT_SECONDS", "1e-9"),
        ("REQUEST_BODY_SECONDS", "1e-9"),
        ("GRACE_SECONDS", "1e-9"),
    ],
)
def test_span__too_short_for_anything__is_refused(name, value):
    assert refused(Config.load, Environment({f"NOTIFYQ_{name}": value})).startswith(f"NOTIFYQ_{name} must be at least ")


def test_text__that_is_no_utf_8__is_refused():
    text = refused(Config.load, Environment({"NOTIFYQ_METRICS_TOKEN": "t\udcff"}))
    assert text == "NOTIFYQ_METRICS_TOKEN must be text"


def test_configuration_error__whatever_a_library_said__is_one_line():
    assert str(ConfigurationError("X: no\nsuch\x1b[1m thing\udcff")) == r"X: no\nsuch\x1b[1m thing\udcff"
