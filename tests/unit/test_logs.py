"""What a log line looks like, and what never gets into one."""

import json
import logging
import sys

import pytest

from notifyq.runtime import logs
from notifyq.runtime.logs import JsonFormatter, WithoutHealthChecks, describe_error, logging_config
from notifyq.runtime.request_id import request_id

ADDRESS = "ada@example.com"


def line(event="sent", name="notifications.delivery", exc_info=None, args=(), **fields):
    record = logging.LogRecord(name, logging.INFO, __file__, 1, event, args, exc_info)
    record.__dict__.update(fields)
    return JsonFormatter().format(record)


def raised(error, cause=None):
    try:
        raise error from cause
    except type(error):
        return sys.exc_info()


def test_line__plain_event__is_one_json_object_with_its_fields():
    parsed = json.loads(line("claimed", row_count=5))
    assert parsed["event"] == "claimed"
    assert parsed["row_count"] == 5
    assert parsed["level"] == "info"
    assert parsed["time"].endswith("Z")
    assert "request_id" not in parsed


def test_line__request_id_set__carries_it():
    token = request_id.set("req-1")
    try:
        assert json.loads(line())["request_id"] == "req-1"
    finally:
        request_id.reset(token)


@pytest.mark.parametrize("name", sorted(logs.WITHHELD))
def test_line__telling_field__is_withheld(name):
    assert json.loads(line(**{name: ADDRESS}))[name] == "[withheld]"


def test_line__error_with_cause__stands_in_one_line_cause_first():
    text = line(exc_info=raised(RuntimeError("second"), cause=ValueError("first")))
    assert "\n" not in text
    traceback = json.loads(text)["traceback"]
    assert traceback.index("ValueError: first") < traceback.index("RuntimeError: second")
    assert 'test_logs.py", line' in traceback


def test_line__error_that_causes_itself__ends():
    error = RuntimeError("round")
    error.__cause__ = error
    assert "RuntimeError: round" in json.loads(line(exc_info=(RuntimeError, error, None)))["traceback"]


def test_line__row_data_in_text_and_fields__is_cut():
    text = f"violates\nDETAIL:  Failing row contains ({ADDRESS}, line one\nline two)."
    written = line(text, reason=text, cause=ValueError(text), deep=[ValueError(text)])
    assert ADDRESS not in written
    assert "line two" not in written
    assert written.count("violates") == 4


def test_line__django_request__holds_method_but_no_query():
    request = type("Request", (), {"method": "GET", "__str__": lambda self: f"GET /x?recipient={ADDRESS}"})()
    event = f'"GET /api/v1/notifications?recipient={ADDRESS} HTTP/1.1" 500'
    written = line(event, name="django.server", request=request)
    assert ADDRESS not in written
    assert json.loads(written)["method"] == "GET"
    assert "/api/v1/notifications HTTP/1.1" in json.loads(written)["event"]


def test_describe_error__without_database__is_its_text():
    assert describe_error(ValueError("too long")) == "too long"


@pytest.mark.parametrize(("path", "kept"), [("/health/ready", False), ("/api/v1/notifications", True)])
def test_django_request_filter__failing_request__drops_health_checks_only(path, kept):
    record = logging.LogRecord("django.request", logging.ERROR, "", 0, "Service Unavailable", (), None)
    record.request = type("Request", (), {"path": path})()
    assert WithoutHealthChecks().filter(record) is kept


def test_logging_config__debug_asked__libraries_that_log_addresses_stay_quiet():
    loggers = logging_config("DEBUG")["loggers"]
    assert {loggers[name]["level"] for name in ("urllib3", "httpcore", "botocore", "psycopg")} == {"WARNING"}
    assert loggers["django"]["level"] == "INFO"  # at DEBUG django.db logs every statement with its values
