"""What stands in deploy/ fits the commands, settings and metrics that there are."""

import configparser
import re
import shutil
import subprocess

import pytest
import yaml

from notifyq.env import Config, Environment
from tests.architecture.test_documentation import documented_variables, metric_names, read
from tests.support.source import ROOT

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
# Commands that run until they are told to stop; the others do one thing and exit.
LONG_RUNNING = {"run_workers", "dispatch_webhooks"}
FOR_A_DESK = {"sandbox_provider": "the simulated vendor", "up": "a whole service for a newcomer"}
GRACE_MARGIN_SECONDS = 5
SUFFIX = re.compile(r"_(bucket|sum|count)$")


def unit(path):
    parser = configparser.RawConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path, encoding="utf-8")
    return parser


def waits_for_a_signal(path):
    source = path.read_text(encoding="utf-8")
    return "signal.signal" in source or "Supervisor(" in source or ".serve_forever" in source


def test_commands__that_run_for_long__have_a_unit():
    commands = {p.stem for p in ROOT.glob("*/management/commands/*.py") if waits_for_a_signal(p)}
    started = " ".join(unit(path)["Service"]["ExecStart"] for path in UNITS)

    assert commands - set(FOR_A_DESK) == LONG_RUNNING
    assert [c for c in LONG_RUNNING if f"manage.py {c}" not in started] == []


def test_workers_unit__of_systemd__waits_longer_than_the_grace_period():
    service = unit(DEPLOY / "systemd" / "notifyq-workers.service")["Service"]
    example = (DEPLOY / "notifyq.env.example").read_text(encoding="utf-8")
    (grace_seconds,) = re.findall(r"^NOTIFYQ_GRACE_SECONDS=(\d+)", example, re.MULTILINE)

    assert float(service["TimeoutStopSec"]) > float(grace_seconds) + GRACE_MARGIN_SECONDS
    assert float(grace_seconds) == Config.load(Environment({})).grace_seconds
    assert service["KillMode"] == "mixed"
    assert service["Restart"] == "always"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_units__as_systemd_reads_them__hold_no_mistake(tmp_path):
    for path in UNITS:  # the programs are not installed here, so others stand in for them
        text = re.sub(r"/opt/notifyq/.venv/bin/\S+", "/bin/true", path.read_text(encoding="utf-8"))
        (tmp_path / path.name).write_text(text, encoding="utf-8")

    result = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())], capture_output=True, text=True
    )

    complaints = [line for line in result.stderr.splitlines() if "notifyq-" in line]
    assert (result.returncode, complaints) == (0, []), result.stderr


def test_example_settings__all__are_documented():
    text = (DEPLOY / "notifyq.env.example").read_text(encoding="utf-8")
    names = set(re.findall(r"^#?([A-Z_]+)=", text, re.MULTILINE))

    assert names - documented_variables(read("configuration.md")) == set()


def test_alerts__all__use_metrics_that_exist_and_are_explained():
    groups = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    used = {SUFFIX.sub("", name) for rule in rules for name in re.findall(r"notifyq_\w+", rule["expr"])}

    assert used - metric_names() == set()
    assert {rule["alert"] for rule in rules} == set(re.findall(r"`(Notifyq\w+)`", read("operations.md")))


def test_pooler__of_the_example__pools_transactions():
    parser = configparser.RawConfigParser(inline_comment_prefixes=None, comment_prefixes=(";",))
    parser.read(DEPLOY / "pgbouncer" / "pgbouncer.ini", encoding="utf-8")

    assert parser["pgbouncer"]["pool_mode"] == "transaction"
