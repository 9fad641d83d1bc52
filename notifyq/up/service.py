"""The course of `up`: what is started in which order, shown, watched and stopped."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from types import FrameType
from typing import NoReturn

import requests
from django.core.management import call_command
from django.db import connection

from notifications.channel import INBOX, Channel
from notifications.errors import ConfigurationError
from notifications.providers import chains
from notifyq import unknown_variables
from notifyq.embedded import url_of
from notifyq.embedded.home import find_home, open_data_dir
from notifyq.embedded.locks import try_lock
from notifyq.env import Config, Environment
from notifyq.up import accounts, demo, first, leftovers, ports
from notifyq.up.addresses import Addresses, show, show_end, show_trial
from notifyq.up.children import Child, Children
from notifyq.up.guard import Guard
from notifyq.up.screen import Screen

DEFAULT_PORT = 8000
_SANDBOX_PORT = 8026
_SANDBOX_URL = "NOTIFYQ_SANDBOX_URL"
_OURS = ("sandbox", INBOX)
"""Providers that reach nobody outside this machine."""
_PRIVATE_WEBHOOKS = "NOTIFYQ_WEBHOOK_ALLOW_PRIVATE_ADDRESSES"
_SANDBOX_COOLDOWN = "NOTIFYQ_SANDBOX_BREAKER_COOLDOWN_SECONDS"
_READY_SECONDS = 60
_MORE_GRACE_SECONDS = 5  # the workers' own grace period ends before ours
_LOOK_SECONDS = 0.1
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):
    """Somebody asked us to stop."""


class EssentialEnded(Exception):
    """A process without which the rest is of no use has ended."""

    def __init__(self, child: Child) -> None:
        self.child = child
        super().__init__(child.name)


@dataclass(frozen=True, slots=True)
class Options:
    """`port` is None unless the user named one: only then may another be taken instead of 8000."""

    port: int | None
    workers: int
    demo: bool


class Service:
    """Everything that `make up` runs. One per data directory."""

    def __init__(self, options: Options, config: Config, root: Path, data_dir: Path, screen: Screen) -> None:
        self._options = options
        self._config = config
        self._root = root
        self._data_dir = open_data_dir(data_dir)
        self._screen = screen
        self._guard = Guard(root, config.grace_seconds + _MORE_GRACE_SECONDS)
        self._children = Children(root, self._data_dir / "logs", self._guard)
        self._stop = Event()
        self._hurry = Event()
        self._sandbox_url = os.environ.get(_SANDBOX_URL, "")
        self._api_url = ""
        self._api_key = ""

    def run(self) -> int:
        """Start everything, stay until a signal or until something essential ends; the exit code.

        Raises:
            ConfigurationError: it cannot start as asked, in one line.
        """
        chains.close(chains.build(self._config.provider_chains, Environment()))  # as the workers will
        lock = try_lock(self._data_dir / "up.lock")
        if lock is None:
            raise ConfigurationError(f"`up` is running already on the data in {self._data_dir}, or still ending")
        _log_into(self._data_dir / "logs" / "up.log")
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)
        try:
            self._guard.start(lock)
            self._start()
            self._stay()
        except Stopped:
            return 0
        except EssentialEnded as ended:
            self._report(ended.child)
            return 1
        finally:
            self._end()
            self._guard.stop()
            os.close(lock)

    def _start(self) -> None:
        began = time.monotonic()
        listening = self._take_port()
        self._screen.title("Notify Queue")
        for warning in unknown_variables.warnings():
            self._screen.trouble(warning)
        self._prepare_database()
        self._cancel_leftovers()
        self._start_processes(listening)
        password = accounts.provide_operator(self._data_dir)  # hashing takes a second, in which the others start
        is_first = self._options.demo and demo.is_wanted()
        if self._options.demo:
            self._api_key = accounts.kept_api_key(self._data_dir) or accounts.create_demo_client(self._data_dir)
        self._await_ready()
        self._screen.done("Ready", f"after {time.monotonic() - began:.1f} s")
        show(self._screen, Addresses(self._api_url, self._sandbox_url, self._data_dir / "logs", password))
        if self._options.demo:
            self._send_first()
            show_trial(self._screen, self._api_url, self._api_key, self._real())
        if is_first:
            self._send_demo()
        connection.close()
        show_end(self._screen)

    def _take_port(self) -> socket.socket:
        if self._options.port is None:
            return ports.listen_near(DEFAULT_PORT)
        try:
            return ports.listen(self._options.port)
        except OSError as error:
            taken = f"port {self._options.port} is taken; name another with --port, or none"
            raise ConfigurationError(taken) from error

    def _prepare_database(self) -> None:
        embedded = url_of(self._data_dir) == os.environ.get("DATABASE_URL")
        where = f"embedded, in {find_home(self._data_dir)}" if embedded else "the one in DATABASE_URL"
        connection.ensure_connection()
        version = connection.pg_version // 10_000  # type: ignore[attr-defined]  # only PostgreSQL's wrapper has it
        self._screen.done(f"PostgreSQL {version}", where)
        call_command("migrate", interactive=False, verbosity=0)
        self._screen.done("Tables", "up to date")
        self._pause(0)

    def _cancel_leftovers(self) -> None:
        """Before anybody sends: what the demo left for the sandbox is nothing for a real provider."""
        real = self._real()
        if real and (count := leftovers.cancel(real.keys())):
            self._screen.done("Demo", f"{count} of its waiting notifications cancelled, now that {_listed(real)}")

    def _start_processes(self, listening: socket.socket) -> None:
        """The sandbox first and the API last, as they are stopped the other way round: first no new work comes in,
        then what is under way is delivered."""
        if not self._sandbox_url:
            self._start_sandbox()
        workers = self._options.workers
        self._manage("workers", "run_workers", "--processes", str(workers))
        self._screen.done("Workers", f"{workers} process{'es' if workers > 1 else ''}")
        self._manage("webhooks", "dispatch_webhooks", "--forever", essential=False)
        self._screen.done("Webhooks", "1 process")
        self._start_api(listening)

    def _start_sandbox(self) -> None:
        store = self._data_dir / "sandbox.sqlite3"
        with ports.listen_near(_SANDBOX_PORT) as listening:
            self._sandbox_url = ports.url_of(listening)
            moved = _moved(listening, _SANDBOX_PORT)
            handed = ["--fd", str(listening.fileno())]
            self._manage("sandbox", "sandbox_provider", *handed, "--store", str(store), listening=listening)
        self._screen.done("Sandbox provider", f"{self._sandbox_url}{moved}")

    def _start_api(self, listening: socket.socket) -> None:
        self._api_url = ports.url_of(listening)
        moved = _moved(listening, self._options.port or DEFAULT_PORT)
        arguments = ["-m", "gunicorn", "notifyq.wsgi", "--bind", f"fd://{listening.fileno()}", "--no-control-socket"]
        arguments += ["--workers", "2", "--threads", "4", "--preload"]  # load once, not twice
        with listening:
            self._children.start("api", arguments, self._variables(), listening=listening)
        self._screen.done("API", f"{self._api_url}{moved}")

    def _manage(
        self, name: str, *arguments: str, essential: bool = True, listening: socket.socket | None = None
    ) -> None:
        command = [str(self._root / "manage.py"), *arguments]
        self._children.start(name, command, self._variables(), essential=essential, listening=listening)

    def _variables(self) -> dict[str, str]:
        """Beside the sandbox's address: a newcomer's webhook receiver runs on this machine too, and whoever has the
        simulated vendor fail wants to see how it comes back, soon."""
        cooldown = os.environ.get("NOTIFYQ_BREAKER_COOLDOWN_SECONDS", "5")
        return {
            _SANDBOX_URL: self._sandbox_url,
            _PRIVATE_WEBHOOKS: os.environ.get(_PRIVATE_WEBHOOKS, "true"),
            _SANDBOX_COOLDOWN: os.environ.get(_SANDBOX_COOLDOWN, cooldown),
        }

    def _await_ready(self) -> None:
        """Wait until the API says that notifications are accepted and delivered."""
        deadline = time.monotonic() + _READY_SECONDS
        answer = "no answer"
        with first.local_session() as session:
            while time.monotonic() < deadline:
                self._pause(_LOOK_SECONDS)
                try:
                    response = session.get(f"{self._api_url}/health/ready", timeout=5)
                except requests.RequestException:
                    continue
                if response.ok:
                    return
                answer = response.text[:500]
        raise ConfigurationError(
            f"not ready after {_READY_SECONDS} s ({answer}); logs are in {self._data_dir / 'logs'}"
        )

    def _send_first(self) -> None:
        self._screen.title("First notifications")
        for channel in Channel:
            if real := self._real_providers(channel):
                several = "a real provider" if len(real) == 1 else "real providers"
                self._screen.row(channel, f"not tried: {channel} goes to {', '.join(real)}, {several}")
                continue
            self._send_one(channel)

    def _real(self) -> dict[Channel, list[str]]:
        """The channels that reach somebody, each with the providers through which they do."""
        return {channel: real for channel in Channel if (real := self._real_providers(channel))}

    def _real_providers(self, channel: Channel) -> list[str]:
        """Those of its chain that would reach somebody."""
        return [name for name in self._config.provider_chains[channel] if name.partition(":")[0] not in _OURS]

    def _send_demo(self) -> None:
        """After all that a newcomer waits for has been printed."""
        harmless = [channel for channel in Channel if not self._real_providers(channel)]
        rows = demo.bodies(harmless, self._config.rate_limit_count)
        hooks_url = f"{self._sandbox_url}/webhooks"
        if not rows:
            return
        try:
            demo.send(self._client(), rows, hooks_url)
        except (first.KeyRefused, first.Unexpected, requests.RequestException) as error:
            self._screen.trouble(f"nothing to try in the console: {error or 'the key was refused'}")
        else:
            demo.show(self._screen, hooks_url)

    def _send_one(self, channel: Channel) -> None:
        try:
            try:
                shown = self._client().send(channel)
            except first.KeyRefused:
                self._api_key = accounts.create_demo_client(self._data_dir)
                shown = self._client().send(channel)
        except (first.KeyRefused, first.Unexpected, requests.RequestException) as error:
            self._screen.trouble(f"{channel}: {error or 'the new key was refused'}")
        else:
            self._screen.steps(channel, first.steps(shown))

    def _client(self) -> first.Client:
        return first.Client(self._api_url, self._api_key, self._pause)

    def _stay(self) -> NoReturn:
        while True:
            self._pause(_LOOK_SECONDS)

    def _pause(self, seconds: float) -> None:
        """Wait, unless there is a reason to stop."""
        if self._stop.wait(seconds):
            raise Stopped
        for child in self._children.take_ended():
            if child.essential:
                raise EssentialEnded(child)
            self._report(child)

    def _report(self, child: Child) -> None:
        self._screen.line()
        self._screen.trouble(f"{child.name} {child.fate}; the end of {child.log}:")
        for line in child.last_lines():
            self._screen.line(f"      {line}")

    def _end(self) -> None:
        if not self._children.any:
            return
        self._screen.line()
        self._screen.line("  Stopping …")
        killed = self._children.stop(self._config.grace_seconds + _MORE_GRACE_SECONDS, self._hurry)
        if killed:
            self._screen.trouble(f"had to be killed: {', '.join(killed)}")
        self._screen.line("  Everything is stopped.")

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """The first signal stops in good order, the second at once."""
        if self._stop.is_set():
            self._hurry.set()
        self._stop.set()


def _log_into(file: Path) -> None:
    """What this process itself has to log, beside the logs of those that it starts: the screen is for people."""
    stream = file.open("w", encoding="utf-8")
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stderr:
            handler.setStream(stream)


def _listed(real: Mapping[Channel, Sequence[str]]) -> str:
    return "; ".join(f"{channel} goes to {', '.join(names)}" for channel, names in real.items())


def _moved(listening: socket.socket, wanted: int) -> str:
    return "" if ports.port_of(listening) == wanted else f"  (port {wanted} is taken)"
