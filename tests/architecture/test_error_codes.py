"""The page of error codes names every code that the code can give, and no other."""

import ast
import re

from notifications import outcome, push_target, reconciliation
from notifications.providers import trouble
from notifications.providers.email import mailgun
from notifications.providers.push import apns_answers, devices, fcm_answers
from tests.support.source import ROOT, modules

MAKERS = {("Verdict", name) for name in ("rejected", "temporary", "provider_fault", "unconfirmed")}
MAKERS |= {("Finding", name) for name in ("rejected", "unknown")}
PAGE = (ROOT / "docs" / "error-codes.md").read_text(encoding="utf-8")
OF_A_STATUS = re.compile(r"http_\d+")
APNS = (apns_answers._REJECTED, apns_answers._ACCOUNT, apns_answers._LATER)
# What stands in tables and loops, where it cannot be read off a call.
IN_TABLES = {
    *(code for _, code, _ in (*trouble._NOT_SENT, *trouble._UNKNOWN)),
    *(code for _, _, code in mailgun._TEXTS),
    *(code for table in APNS for code, _ in table.values()),
    *fcm_answers._TEXT,
    *(devices.UNREGISTERED, devices.EXPIRED, devices.INVALID, devices.FOREIGN),
    *(outcome.BUG, outcome.LOST, outcome.EXPIRED, outcome.UNCONFIRMED, outcome.NOT_DELIVERED, outcome.NOT_RECEIVED),
    *(outcome.NO_PROVIDER, push_target.NO_PUSH_TARGET, reconciliation.NOT_ASKABLE),
}


def literals(source):
    """The codes that are written out where a verdict, a finding or a refusal of content is made."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        function, first = node.func, node.args[0] if node.args else None
        owner = getattr(getattr(function, "value", None), "id", "")
        if (owner, getattr(function, "attr", "")) in MAKERS or getattr(function, "id", "") == "InvalidContentError":
            yield from constants(first)
        for keyword in node.keywords:
            if keyword.arg == "error_code":
                yield from constants(keyword.value)


def constants(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def in_code():
    sources = [(ROOT / path).read_text(encoding="utf-8") for path, _ in modules() if path.startswith("notifications/")]
    written = {code for source in sources for code in literals(source) if code}
    return {code for code in written | IN_TABLES if not OF_A_STATUS.fullmatch(code)}


def test_error_codes__of_the_code__are_all_on_the_page():
    assert in_code() - set(re.findall(r"^\| `([\w-]+)` \|", PAGE, re.MULTILINE)) == set()


def test_error_codes__on_the_page__are_all_of_the_code():
    listed = set(re.findall(r"^\| `([\w-]+)` \|", PAGE, re.MULTILINE))

    # Of an argument of a function of the module's own, as `invalid_recipient` is.
    elsewhere = {"invalid_recipient"}
    assert listed - in_code() - elsewhere == set()
