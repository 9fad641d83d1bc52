"""Metrics of several processes in one directory."""

import os
import subprocess
import sys
import time

import pytest
from prometheus_client import REGISTRY, generate_latest, values

from notifications import metrics
from notifyq.runtime import metrics as shared


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """An empty directory; the changed process name makes every metric begin anew in it."""
    monkeypatch.setenv(shared.VARIABLE, str(tmp_path))
    monkeypatch.setattr(shared, "_host", f"test{time.monotonic_ns()}")
    return tmp_path


def sample(line_start):
    with shared.readable_registry() as registry:
        lines = generate_latest(registry).decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(line_start))


def in_child(act):
    pid = os.fork()
    if pid == 0:  # pragma: no cover (another process)
        act()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def test_counts__of_a_forked_process__are_added_to_the_parents(directory):
    metrics.record_claim(5, 0.01)
    in_child(lambda: metrics.record_claim(7, 0.01))
    assert sample("notifyq_claimed_total") == 12
    assert sample("notifyq_claim_seconds_count") == 2


def test_forget__child_has_ended__totals_stay_and_its_files_go(directory):
    metrics.record_rescued(1)
    for _ in range(3):
        in_child(lambda: metrics.record_rescued(2))
    assert shared.forget_dead_processes() >= 3
    assert shared.forget_dead_processes() == 0
    assert sample("notifyq_rescued_total") == 7
    assert len(list(directory.glob("counter_*.db"))) == 2  # the parent's own, and the fold


def test_forget__file_of_a_killed_writer_is_garbled__is_dropped_and_the_rest_readable(directory):
    metrics.record_released(3)
    (directory / f"counter_{shared._host}-999999999.db").write_bytes(b"\xff\xff\xff\x7f" + b"\x01" * 100)
    assert shared.forget_dead_processes() == 1
    assert sample("notifyq_released_total") == 3


def test_forget__file_of_another_host__is_kept_while_it_is_fresh(directory):
    metrics.record_expired(1)
    foreign = directory / "counter_elsewhere-1.db"
    foreign.write_bytes((directory / f"counter_{shared._host}-{os.getpid()}.db").read_bytes())
    assert shared.forget_dead_processes() == 0
    old = time.time() - shared.ABANDONED_AFTER_SECONDS - 1
    os.utime(foreign, (old, old))
    assert shared.forget_dead_processes() == 1
    assert sample("notifyq_expired_total") == 2


def test_record__directory_has_vanished__work_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv(shared.VARIABLE, str(tmp_path / "gone"))
    monkeypatch.setattr(shared, "_host", "testvanished")
    metrics.record_claim(1, 0.01)


def test_share__directory_cannot_be_written__counts_stay_in_the_process(tmp_path, monkeypatch):
    monkeypatch.setenv(shared.VARIABLE, "before")
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    (tmp_path / "file").touch()
    problem = shared.share_between_processes(tmp_path / "file" / "metrics")
    assert problem.endswith("Not a directory")
    assert values.ValueClass is values.MutexValue
    assert shared.VARIABLE not in os.environ
    assert shared.forget_dead_processes() == 0
    with shared.readable_registry() as registry:
        assert registry is REGISTRY


def test_start__directory_cannot_be_written__says_so_once_and_starts(tmp_path):
    (tmp_path / "file").touch()
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "file" / "metrics")}
    environment["DJANGO_SETTINGS_MODULE"] = "notifyq.settings"
    code = "import django; django.setup(); import notifications.metrics as m; m.record_claim(1, .1)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("metrics_of_this_process_only") == 1


def test_record_attempts__one_batch__is_counted_by_outcome_and_timed_by_provider(directory):
    metrics.record_attempts(
        [("EMAIL", "a", "ACCEPTED", 0.004), ("EMAIL", "a", "ACCEPTED", 0.2), ("SMS", "b", "TEMPORARY", 99.0)]
    )
    assert sample('notifyq_attempts_total{channel="EMAIL",outcome="ACCEPTED",provider="a"}') == 2
    assert sample('notifyq_attempts_total{channel="SMS",outcome="TEMPORARY",provider="b"}') == 1
    assert sample('notifyq_attempt_seconds_bucket{channel="EMAIL",le="0.005",provider="a"}') == 1
    assert sample('notifyq_attempt_seconds_bucket{channel="SMS",le="30.0",provider="b"}') == 0
    assert sample('notifyq_attempt_seconds_bucket{channel="SMS",le="+Inf",provider="b"}') == 1


def test_record_lateness__like_single_observations__also_on_a_bucket_edge(directory):
    metrics.record_lateness([0.01, 0.010001, -5.0, 4000.0])
    assert sample('notifyq_send_lateness_seconds_bucket{le="0.01"}') == 2  # an edge belongs to its bucket
    assert sample("notifyq_send_lateness_seconds_count") == 4
    assert sample("notifyq_send_lateness_seconds_sum") == pytest.approx(4000.020001)


def test_record__each_remaining_function__moves_its_counter(directory):
    metrics.record_finished({("SENT", "EMAIL"): 3, ("FAILED", "SMS"): 1})
    metrics.record_settle(4, 0.02)
    metrics.record_stale_settles(2)
    metrics.record_round_error("claim")
    assert sample('notifyq_finished_total{channel="EMAIL",status="SENT"}') == 3
    assert sample("notifyq_settled_total") == 4
    assert sample("notifyq_settle_seconds_count") == 1
    assert sample("notifyq_stale_settles_total") == 2
    assert sample('notifyq_round_errors_total{loop="claim"}') == 1
