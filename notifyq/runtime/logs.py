"""Structured logs: one JSON object a line on standard error, one event name per act, fields beside it.

What people sent to whom never gets in: fields with a telling name are withheld, and the text of a database error is
cut down to what names no row.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import psycopg

from notifyq.runtime.request_id import request_id

WITHHELD = frozenset(
    {"recipient", "recipients", "subject", "body", "html_body", "html", "data", "metadata", "content", "payload"}
    | {"reply_to", "from_name", "fingerprint", "token", "authorization", "secret", "key", "api_key", "idempotency_key"}
    | {"password", "credentials", "smtp_url", "database_url"}
    | {"error_message", "last_error_message"}
)
"""Names of fields that never appear with their value, whoever logs them. `claim_token` is no secret and is allowed. The
text of an error may be a vendor's, so logs have the code only."""

_STANDARD = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message", "asctime", "taskName"}
_ROW_DATA = re.compile(r"\n(DETAIL|CONTEXT|LINE \d+|QUERY|STATEMENT|HINT):.*", re.DOTALL)
_QUERY_STRING = re.compile(r"\?[^\s'\"]*")
EVENT_MOST = 200
"""Characters of what Django says about a refused request: a host's name in it may be as long as the caller likes."""
_CHATTY = (
    "axes",
    "urllib3",
    "requests",
    "httpx",
    "httpcore",
    "h2",
    "hpack",
    "botocore",
    "boto3",
    "psycopg",
    "google",
    "kombu",
)

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class JsonFormatter(logging.Formatter):
    """Writes `time, level, logger, event`, the request's id if there is one, and whatever stands in `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC)
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": _event(record),
        }
        if answering := request_id.get():
            line["request_id"] = answering
        line.update(_fields(record))
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=_plain, ensure_ascii=False)

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 (logging's own name)
        """The traceback of the error and of its causes, the first cause first, each text made safe."""
        return "\n".join(_traceback(error) for error in reversed(list(_causes(ei[1]))))


class WithoutHealthChecks(logging.Filter):
    """Drops Django's own line for a failing health check: it comes every few seconds, and the answer says it all."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(getattr(record, "request", None), "path", "").startswith("/health/")


class CallersMistakes(logging.Filter):
    """What Django's own checks refuse, as a foreign host, is the caller's doing: a warning of one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith("django.security"):
            return True
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.exc_info = record.exc_text = None
        record.msg, record.args = _cut(record.getMessage())[:EVENT_MOST], ()
        return logging.getLogger().isEnabledFor(record.levelno)


class WithoutRequests(logging.Filter):
    """Leaves out of the server's own lines what a caller has sent: what is no request may be the body of one."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.msg, str) and record.msg.startswith("Invalid request from"):
            record.msg, record.args = record.msg.partition(": ")[0], ()
        elif isinstance(record.args, tuple):
            record.args = tuple(_QUERY_STRING.sub("", a) if isinstance(a, str) else a for a in record.args)
        return True


def describe_error(error: BaseException) -> str:
    """The error's text, fit for a log.

    PostgreSQL repeats the failing row (`DETAIL`), the statement (`LINE 1`, since Django puts the values into it) and
    malformed values; of its errors only the SQLSTATE and the beginning of the message are kept.
    """
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    if isinstance(cause, psycopg.Error) and cause.sqlstate:
        primary = cause.diag.message_primary or ""
        return f"{cause.sqlstate} {primary.partition(': ')[0] if cause.sqlstate.startswith('22') else primary}"
    return _cut(str(error))


def logging_config(level: str) -> dict[str, Any]:
    """A `dictConfig` that sends everything to standard error as JSON.

    `level` is for the product's own lines. Libraries stay at WARNING: below it they log addresses and statements.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "notifyq.runtime.logs.JsonFormatter"}},
        "filters": {
            "no_health": {"()": "notifyq.runtime.logs.WithoutHealthChecks"},
            "mistakes": {"()": "notifyq.runtime.logs.CallersMistakes"},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["mistakes"]}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"level": "INFO", "propagate": True, "handlers": []},
            # A client's mistakes (4xx) are told to the client; only our own (5xx) are logged.
            "django.request": {"level": "ERROR", "filters": ["no_health"]},
            "django.server": {"level": "INFO", "propagate": True, "handlers": []},
            **{name: {"level": "WARNING"} for name in _CHATTY},
        },
    }


def _event(record: logging.LogRecord) -> str:
    text = _cut(record.getMessage())
    # Django writes request lines; a recipient may be searched for in the query.
    return _QUERY_STRING.sub("", text) if record.name.startswith("django") else text


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    given = {k: v for k, v in record.__dict__.items() if k not in _STANDARD}
    if "request" in given:  # Django's own lines; the object's text holds the query
        given["method"] = getattr(given.pop("request"), "method", None)
    return {k: "[withheld]" if k.lower() in WITHHELD else _safe(v) for k, v in given.items()}


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return _cut(value)
    return describe_error(value) if isinstance(value, BaseException) else value


def _plain(value: object) -> str:
    return describe_error(value) if isinstance(value, BaseException) else _cut(str(value))


def _cut(text: str) -> str:
    return _ROW_DATA.sub("", text)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _traceback(error: BaseException) -> str:
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"{frames}{type(error).__module__}.{type(error).__qualname__}: {describe_error(error)}"
