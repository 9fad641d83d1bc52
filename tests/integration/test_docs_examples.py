"""The curl examples of the pages for users are tried: each is answered with the status that stands below it."""

import re
import shlex

import pytest
from django.test import Client as HttpClient

from notifications.status import Status
from tests.support.factories import NotificationFactory, ago
from tests.support.source import ROOT

PAGES = ("idempotency", "inbox", "operators-api", "health")
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(curl .*?)\n# (\d{3})$", re.MULTILINE | re.DOTALL)


def examples(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return [found for block in _BLOCK.findall(text) for found in _COMMAND.findall(block)]


def run(command, values):
    """As curl would: POST when there is a body, else GET."""
    for name, value in values.items():
        command = command.replace(f"${name}", value)
    words = shlex.split(command.replace("\\\n", " "))[1:]
    url, headers, body, method = "", {}, None, None
    while words:
        word = words.pop(0)
        if word == "-H":
            name, _, value = words.pop(0).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = words.pop(0)
        elif word == "-X":
            method = words.pop(0)
        else:
            url = word
    media_type = headers.pop("Content-Type", "")
    return HttpClient(headers=headers).generic(
        method or ("GET" if body is None else "POST"), url, body or "", media_type
    )


@pytest.fixture
def values(caller, operator):
    dead = Status.DEAD_LETTERED
    rows = {
        "WAITING": NotificationFactory(client=caller.client),
        "DEAD": NotificationFactory(status=dead),
        "LATE": NotificationFactory(status=dead, expires_at=ago()),
        "HELD": NotificationFactory(status=dead, last_error_code="UNCONFIRMED", unconfirmed_provider="sandbox"),
    }
    keys = {"KEY": caller.key.secret, "OPERATOR": operator.key.secret, "NOTIFYQ": ""}
    return keys | {name: str(row.pk) for name, row in rows.items()}


@pytest.mark.parametrize("page", PAGES)
def test_examples__in_their_order__are_answered_as_the_page_says(page, values):
    found = examples(page)

    assert len(found) >= 3
    assert [(run(command, values).status_code, command) for command, _ in found] == [
        (int(status), command) for command, status in found
    ]
