"""Our own log calls name nothing that must stay out of the logs."""

import ast

import pytest

from notifyq.runtime.logs import WITHHELD
from tests.support.source import modules

RAW_ERRORS = {f"{how}({name})" for how in ("str", "repr") for name in ("error", "exc", "exception", "e", "err")}
METHODS = {"debug", "info", "warning", "error", "exception", "critical", "log"}


def log_calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id.lower() in ("log", "logger", "_log"):
                yield node


def problems(tree):
    for call in log_calls(tree):
        if any(isinstance(argument, ast.JoinedStr) for argument in call.args) or len(call.args) > 1:
            yield call.lineno, "an event has a fixed name; what varies goes into extra"
        for keyword in call.keywords:
            if keyword.arg == "extra":
                yield from _extra_problems(keyword.value)


def _extra_problems(extra):
    if not isinstance(extra, ast.Dict):
        yield extra.lineno, "extra is written out at the call, so that this test can read it"
        return
    for key, value in zip(extra.keys, extra.values, strict=True):
        if not isinstance(key, ast.Constant):
            yield value.lineno, "names in extra are literals"
        elif key.value in WITHHELD:
            yield value.lineno, f"{key.value} must not be logged"
        if isinstance(value, ast.Attribute) and value.attr in WITHHELD:
            yield value.lineno, f".{value.attr} must not be logged"
        if isinstance(value, ast.Call) and ast.unparse(value) in RAW_ERRORS:
            yield value.lineno, "an error's own text may hold a row: use describe_error"


def test_log_calls__every_module__name_nothing_secret():
    found = {path: list(problems(tree)) for path, tree in modules()}

    assert len(found) > 100
    assert {path: faults for path, faults in found.items() if faults} == {}


@pytest.mark.parametrize(
    "call",
    [
        'log.info("sent", extra={"recipient": x})',
        'log.info("sent", extra={"who": notification.recipient})',
        'log.info(f"sent {x}")',
        'log.info("sent %s", x)',
        'log.info("sent", extra=fields)',
        'log.info("sent", extra={**fields})',
        'log.info("failed", extra={"reason": str(error)})',
    ],
)
def test_log_calls__one_that_would_leak__is_found(call):
    assert list(problems(ast.parse(call)))
