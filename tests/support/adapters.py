"""Adapters for processes under test, loaded through NOTIFYQ_EXTRA_PROVIDERS."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import ClassVar, Self

from notifications.channel import Channel
from notifications.providers.base import Capabilities, Message, Provider, ProviderSettings
from notifications.verdict import Verdict

EXTRA = ",".join(
    f"{kind}=tests.support.adapters:{name}"
    for kind, name in {"file": "FileProvider", "deadly": "DeadlyProvider", "tardy": "TardyProvider"}.items()
)


class FileProvider(Provider):
    """Has no idempotency key: every call appends the message's id to a file, then takes its time to answer."""

    kind = "file"
    channels = frozenset(Channel)

    def __init__(self, name: str, file: Path, latency_seconds: float) -> None:
        super().__init__(name, Capabilities())
        self._file = file
        self._latency_seconds = latency_seconds

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        return cls(name, Path(settings.text("FILE_PATH")), settings.number("FILE_LATENCY_SECONDS", 0.0))

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        append(self._file, str(message.id))
        time.sleep(self._latency_seconds)
        return Verdict.accepted(f"mail-{message.id}")


class DeadlyProvider(FileProvider):
    """Dies, or raises what no adapter should, where the recipient says so."""

    kind = "deadly"
    RAISES: ClassVar[dict[str, BaseException]] = {
        "systemexit": SystemExit("bye"),
        "keyboardinterrupt": KeyboardInterrupt(),
        "recursionerror": RecursionError(),
        "memoryerror": MemoryError(),
    }

    def __init__(self, name: str, file: Path, latency_seconds: float) -> None:
        super().__init__(name, file, latency_seconds)
        self.capabilities = Capabilities(dedupe_window_seconds=86_400.0)

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        word = message.recipient.partition("@")[0]
        if word == "exit":
            os._exit(9)
        if error := self.RAISES.get(word):
            raise error
        return super().send(message, timeout_seconds=timeout_seconds)


class TardyProvider(FileProvider):
    """Takes its time to be built, as one that reads a big key file does, and says when that begins."""

    kind = "tardy"

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        append(Path(settings.text("FILE_PATH") + ".building"), str(os.getpid()))
        time.sleep(settings.number("TARDY_SECONDS", 1.0))
        return super().from_settings(name, settings)


def append(file: Path, line: str) -> None:
    """One whole line, whoever else appends."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
