"""What the doctor makes of what it is told; the looks at a real database are in tests/integration."""

import pytest

from notifyq.doctor import Level, installation, server
from notifyq.env import Config, Environment
from notifyq.runtime.probe import Probe


def config(**variables):
    return Config.load(Environment({f"NOTIFYQ_{name}": value for name, value in variables.items()}))


class Told(Probe):
    """A probe that answers what it was given."""

    def __init__(self, *row):
        self._row = row

    def rows(self, sql, values=None, *, seconds):
        return [self._row]


@pytest.mark.parametrize(
    ("key", "level"),
    [("", Level.FAIL), ("not-secret-no-entry-point-was-used", Level.FAIL), ("short", Level.FAIL), ("x" * 50, Level.OK)],
)
def test_secret_key__as_it_is_set__is_judged(key, level):
    assert installation.secret_key(key).level is level


def test_secret_key__too_short_while_debugging__is_warned_of():
    assert installation.secret_key("short", debug=True).level is Level.WARN


def test_secret_key__too_short__is_not_repeated():
    assert "hunter2" not in str(installation.secret_key("hunter2"))


def test_providers__of_the_sandbox__are_warned_of_by_variable():
    finding = installation.providers(config())

    assert finding.level is Level.WARN
    assert "NOTIFYQ_EMAIL_PROVIDERS" in finding.text


def test_providers__that_cannot_be_built__fail():
    finding = installation.providers(config(EMAIL_PROVIDERS="pigeon"))

    assert finding.level is Level.FAIL
    assert "'pigeon'" in finding.text


@pytest.mark.parametrize(("timeout", "level"), [("10", Level.OK), ("151", Level.WARN)])
def test_lease__beside_the_send_timeout__is_judged(timeout, level):
    assert installation.lease(config(SEND_TIMEOUT_SECONDS=timeout)).level is level


@pytest.mark.parametrize(("grace", "level"), [("30", Level.OK), ("9", Level.WARN)])
def test_grace__beside_the_send_timeout__is_judged(grace, level):
    assert installation.grace(config(GRACE_SECONDS=grace)).level is level


@pytest.mark.parametrize(
    ("number", "level"), [(140_013, Level.FAIL), (150_000, Level.OK), (180_001, Level.OK), (190_000, Level.WARN)]
)
def test_version__of_the_server__is_judged(number, level):
    assert server.version(Told(number)).level is level


def test_standby__instead_of_the_primary__fails():
    assert server.writable(Told(True)).level is Level.FAIL


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_isolation__other_than_read_committed__fails(level):
    assert server.isolation(Told(level)).level is Level.FAIL


@pytest.mark.parametrize(("used", "level"), [(80, Level.OK), (81, Level.WARN)])
def test_connections__nearly_used_up__are_warned_of(used, level):
    assert server.connections(Told(used, 100)).level is level


@pytest.mark.parametrize(("skew", "words"), [(600.0, "ahead of"), (-600.0, "behind")])
def test_clock__that_differs__is_warned_of(monkeypatch, skew, words):
    monkeypatch.setattr(server, "_now", lambda: 1_000_000.0)

    finding = server.clock(Told(1_000_000.0 + skew))

    assert finding.level is Level.WARN
    assert f"600.0 s {words}" in finding.text


def test_clock__that_agrees__is_fine(monkeypatch):
    monkeypatch.setattr(server, "_now", lambda: 1_000_000.0)

    assert server.clock(Told(1_000_000.5)).level is Level.OK
