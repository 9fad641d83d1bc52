"""Prometheus metrics of many processes: each counts in files of its own, and any one can answer for all of them."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import struct
import tempfile
import time
from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry, Histogram, values
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
ABANDONED_AFTER_SECONDS = 86_400.0
"""Files of another host (a container that shares the directory) count as dead when untouched for so long."""

_ENDED = "ended"
# Containers that share a directory reuse each other's process numbers, so the host's name is part of the file's.
_host = re.sub(r"[^A-Za-z0-9.]", "-", socket.gethostname())


def share_between_processes(directory: Path) -> str:
    """Keep the metrics of this process, and of those it forks, where the others can read them.

    Call it before any metric is declared. When the directory cannot be written, metrics stay in this process.

    Returns:
        What is wrong with the directory; empty when all is well.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        os.environ.pop(VARIABLE, None)
        values.ValueClass = values.MutexValue
        return f"{directory}: {error.strerror}"
    os.environ[VARIABLE] = str(directory)
    values.ValueClass = values.MultiProcessValue(_process_name)
    return ""


def forget_dead_processes() -> int:
    """Fold the counts of processes that have ended into one file for each kind, so that no total ever goes down.

    Safe to call at any time, from several processes at once.

    Returns:
        How many files were folded.
    """
    directory = os.environ.get(VARIABLE)
    if not directory:
        return 0
    with _locked(directory, fcntl.LOCK_EX):
        dead = [path for path in Path(directory).glob("*.db") if _is_dead(path)]
        for path in dead:
            _fold(path)
    return len(dead)


@contextmanager
def readable_registry() -> Iterator[CollectorRegistry]:
    """The metrics of all processes, held still against `forget_dead_processes` while they are read."""
    directory = os.environ.get(VARIABLE)
    if not directory:
        yield REGISTRY
        return
    with _locked(directory, fcntl.LOCK_SH):
        registry = CollectorRegistry()
        MultiProcessCollector(registry, path=directory)
        yield registry


class BatchHistogram(Histogram):
    """A histogram that takes many observations at the price of a few: one write for each bucket that grows."""

    def observe_many(self, amounts: Iterable[float]) -> None:
        """Count each amount. Negative ones (clocks differ) count as zero."""
        floored = [max(0.0, amount) for amount in amounts]
        if not floored:
            return
        self._sum.inc(sum(floored))
        for bucket, count in Tally(bisect_left(self._upper_bounds, amount) for amount in floored).items():
            self._buckets[bucket].inc(count)


def _process_name() -> str:
    return f"{_host}-{os.getpid()}"


@contextmanager
def _locked(directory: str, mode: int) -> Iterator[None]:
    with (Path(directory) / "lock").open("a") as file:
        fcntl.flock(file, mode)
        yield  # closing the file unlocks it


def _is_dead(path: Path) -> bool:
    owner = path.stem.rpartition("_")[2]
    if owner == _ENDED:
        return False
    host, _, pid = owner.rpartition("-")
    if host == _host and pid.isdecimal():
        return not _is_alive(int(pid))
    return time.time() - path.stat().st_mtime > ABANDONED_AFTER_SECONDS


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _fold(path: Path) -> None:
    kind = path.stem.partition("_")[0]
    try:
        if kind != "gauge":  # what a dead process measured last is no longer so
            _add(path, path.with_name(f"{kind}_{_ENDED}.db"))
    except (RuntimeError, struct.error, UnicodeDecodeError):
        pass  # cut off or garbled when its process was killed: nothing in it can be trusted
    path.unlink()


def _add(source: Path, target: Path) -> None:
    kept = MmapedDict(str(target))
    try:
        for key, value, timestamp, _ in MmapedDict.read_all_values_from_file(str(source)):
            kept.write_value(key, kept.read_value(key)[0] + value, timestamp)
    finally:
        kept.close()
