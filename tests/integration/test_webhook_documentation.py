"""The examples of docs/webhooks.md are run as they are written, against what the dispatcher really sends."""

import json
import re
import time
from pathlib import Path

import pytest

from tests.support.node import run_node
from tests.support.receiver import Receiver
from tests.support.webhook_pass import one_pass
from tests.support.webhook_rows import SECRET, an_endpoint, an_event
from webhooks import schedule, services
from webhooks.api import schemas
from webhooks.queue.replay import LIMIT as REPLAY_LIMIT
from webhooks.signing import new_secret, signed_headers

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "webhooks.md").read_text()
UNITS = {"second": 1, "minute": 60, "hour": 3600}
SVIX = """
const { Webhook } = require("svix");
function receive(secret, body, headers) {
  try { return new Webhook(secret).verify(body, headers); } catch { return null; }
}
"""
CALL = """
const { SECRET, BODY, HEADERS } = process.env;
console.log(JSON.stringify(receive(SECRET, BODY, JSON.parse(HEADERS))));
"""


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def sent(transactional_db):
    """A real request of the dispatcher."""
    with Receiver() as receiver:
        an_event(an_endpoint(receiver.url), body='{"eventId":"e","metadata":{"a":"ü €"}}')
        one_pass()
        return receiver.requests[0]


def test_python_example__what_was_sent__verifies(sent):
    (code,) = blocks("python")
    scope: dict = {}
    exec(code, scope)

    assert scope["receive"](SECRET, sent.body.encode(), sent.headers) == sent.document
    assert scope["receive"](new_secret(), sent.body.encode(), sent.headers) is None


@pytest.mark.parametrize("example", [blocks("js")[0], SVIX], ids=["documentation", "svix"])
def test_node_example__what_was_sent__verifies(sent, example):
    headers = json.dumps(sent.headers)
    good = run_node(example + CALL, SECRET=SECRET, BODY=sent.body, HEADERS=headers)
    bad = run_node(example + CALL, SECRET=new_secret(), BODY=sent.body, HEADERS=headers)

    assert json.loads(good) == sent.document
    assert json.loads(bad) is None


def test_node_example__two_signatures_of_a_rotation__verifies_with_either():
    secrets = [new_secret(), new_secret()]
    headers = json.dumps(signed_headers("id", '{"a":1}', secrets, at_epoch_seconds=time.time()))

    for secret in secrets:
        assert json.loads(run_node(blocks("js")[0] + CALL, SECRET=secret, BODY='{"a":1}', HEADERS=headers)) == {"a": 1}


def test_schedule__of_the_page__is_that_of_the_code():
    rows = re.findall(r"^\| (\d+) \| (?:at once|(\d+) (second|minute|hour)s) \|$", PAGE, re.MULTILINE)

    assert [int(number) for number, _, _ in rows] == list(range(1, 11))
    assert tuple(float(n or 0) * UNITS.get(unit, 0) for _, n, unit in rows) == schedule.WAITS_SECONDS


def test_examples__of_the_page__have_the_fields_of_the_code(sent):
    event, replayed = (json.loads(block) for block in blocks("json"))

    assert {"eventId", "jobId", "sequence", "error", "metadata"} < event.keys()
    assert replayed.keys() == schemas.REPLAY["properties"].keys()
    assert f"{services.ENDPOINTS_MOST} endpoints" in PAGE
    assert f"at most {REPLAY_LIMIT:,} at a time" in PAGE
