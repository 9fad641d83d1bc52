"""What the simulated vendor remembers: an SQLite file that outlives the process.

A change is committed before it is answered, so a killed process forgets nothing that it said. (Committed means
handed to the operating system: a power cut may still take the last moments, as `synchronous=NORMAL` allows.)
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS messages (
  sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, key TEXT NOT NULL, channel TEXT NOT NULL, recipient TEXT NOT NULL,
  subject TEXT NOT NULL, body TEXT NOT NULL, extras TEXT NOT NULL, accepted_at TEXT NOT NULL,
  delivered_at_epoch REAL NOT NULL, repeats INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS messages_key ON messages (key);
CREATE TABLE IF NOT EXISTS keys (
  key TEXT PRIMARY KEY, tries INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counters (
  one INTEGER PRIMARY KEY CHECK (one = 1), requests INTEGER NOT NULL, accepted INTEGER NOT NULL,
  repeats INTEGER NOT NULL);
INSERT OR IGNORE INTO counters VALUES (1, 0, 0, 0);
"""
_COLUMNS = "id, key, channel, recipient, subject, body, extras, accepted_at, repeats"


@dataclass(frozen=True, slots=True)
class Stored:
    """A message as it was accepted. `extras` holds every further field the client sent."""

    id: str
    key: str
    channel: str
    recipient: str
    subject: str
    body: str
    accepted_at: str
    extras: Mapping[str, Any] = field(default_factory=dict)
    repeats: int = 0


@dataclass(frozen=True, slots=True)
class Counters:
    requests: int
    accepted: int
    repeats: int


class Writing:
    """The open transaction of the one writer."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def count_request(self) -> None:
        self._run("UPDATE counters SET requests = requests + 1")

    def message_id(self, key: str) -> str | None:
        """The id of the first message accepted under `key`."""
        row = self._run("SELECT id FROM messages WHERE key = ? ORDER BY sequence LIMIT 1", (key,)).fetchone()
        return None if row is None else str(row[0])

    def count_repeat(self, key: str, message_id: str) -> None:
        self._run("UPDATE counters SET repeats = repeats + 1")
        self._run("UPDATE messages SET repeats = repeats + 1 WHERE key = ? AND id = ?", (key, message_id))

    def add(self, message: Stored, delivered_at_epoch: float) -> None:
        self._run(
            "INSERT INTO messages (id, key, channel, recipient, subject, body, extras, accepted_at, delivered_at_epoch)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                message.id,
                message.key,
                message.channel,
                message.recipient,
                message.subject,
                message.body,
                json.dumps(message.extras),
                message.accepted_at,
                delivered_at_epoch,
            ),
        )
        self._run("UPDATE counters SET accepted = accepted + 1")

    def count_try(self, key: str) -> int:
        """Count one more try of `key`; returns how many there have been."""
        statement = "INSERT INTO keys (key, tries) VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET tries = tries + 1"
        return int(self._run(statement + " RETURNING tries", (key,)).fetchone()[0])

    def reject(self, key: str) -> None:
        self._run("INSERT INTO keys (key, rejected) VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET rejected = 1", (key,))

    def set_fact(self, name: str, value: str) -> None:
        self._run("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def empty(self) -> None:
        self._run("DELETE FROM messages")
        self._run("DELETE FROM keys")
        self._run("UPDATE counters SET requests = 0, accepted = 0, repeats = 0")


class Store:
    """One writer at a time; readers have connections of their own and wait for nobody."""

    def __init__(self, path: Path) -> None:
        """Open the file, making it where needed; nobody else may read it, as it holds recipients and contents.

        Raises:
            OSError: the directory cannot be made.
            sqlite3.Error: the file cannot be opened, or is something else.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_private(path)
        self._path = path
        self._lock = threading.Lock()
        self._writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=64)
        try:
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.execute("PRAGMA synchronous = NORMAL")
            self._writer.executescript(_SCHEMA)
        except sqlite3.Error:
            self._writer.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """A transaction: committed on the way out, rolled back on an error. Holds the one writer lock."""
        with self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield Writing(self._writer)
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

    def close(self) -> None:
        with self._lock:
            self._writer.close()

    def messages(self, *, newest: int | None = None) -> list[Stored]:
        """All messages in the order of acceptance, or the `newest` so many of them, newest first."""
        order = "" if newest is None else f" DESC LIMIT {newest:d}"
        rows = self._read(f"SELECT {_COLUMNS} FROM messages ORDER BY sequence{order}")  # noqa: S608 (an integer)
        return [_stored(row) for row in rows]

    def status(self, key: str, now_epoch: float) -> tuple[str, str | None] | None:
        """`delivered`, `pending` or `failed` for a key that is known, and the id of its first message; else None."""
        rows = self._read("SELECT delivered_at_epoch, id FROM messages WHERE key = ? ORDER BY sequence LIMIT 1", key)
        if rows:
            return ("delivered" if rows[0][0] <= now_epoch else "pending"), str(rows[0][1])
        return ("failed", None) if self._read("SELECT 1 FROM keys WHERE key = ? AND rejected", key) else None

    def counters(self) -> Counters:
        return Counters(*self._read("SELECT requests, accepted, repeats FROM counters")[0])

    def fact(self, name: str) -> str | None:
        rows = self._read("SELECT value FROM facts WHERE name = ?", name)
        return str(rows[0][0]) if rows else None

    def _read(self, statement: str, *parameters: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as reader:
            return reader.execute(statement, parameters).fetchall()


def _make_private(path: Path) -> None:
    """Mode 600 before SQLite opens it, which gives the same mode to the -wal and -shm that it puts beside it."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        with suppress(FileNotFoundError, PermissionError):  # not there, or another user's to close
            name.chmod(0o600)


def _stored(row: tuple[Any, ...]) -> Stored:
    message_id, key, channel, recipient, subject, body, extras, accepted_at, repeats = row
    return Stored(message_id, key, channel, recipient, subject, body, accepted_at, json.loads(extras), repeats)
