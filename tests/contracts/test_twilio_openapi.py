"""Twilio's own description of its API, served by a program nobody here wrote, takes what the adapter sends; and the
answers that the description shows are understood."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from notifications.providers.sms.twilio import TwilioProvider
from notifications.verdict import Found, Outcome
from tests.support.fault_server import FaultServer
from tests.support.node import peers_home
from tests.support.prism import prism
from tests.support.sms import MESSAGE, SENDER, SINCE, answer, in_turn, target

ACCOUNT = "AC" + "a" * 32
DESCRIPTION = "node_modules/@twilio/cli-core/src/services/twilio-api/twilio_api_v2010.json"
MESSAGES = "/2010-04-01/Accounts/{AccountSid}/Messages.json"
PATH = MESSAGES.replace("{AccountSid}", ACCOUNT)
REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')


@pytest.fixture(scope="module")
def description():
    """The part about messages: the whole takes a server seconds to read."""
    whole = json.loads((peers_home() / DESCRIPTION).read_text(encoding="utf-8"))
    schemas, kept = whole["components"]["schemas"], {}
    waiting = REFERENCE.findall(json.dumps(whole["paths"][MESSAGES]))
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept[name] = schemas[name]
            waiting += REFERENCE.findall(json.dumps(schemas[name]))
    components = whole["components"] | {"schemas": kept}
    return whole | {"paths": {MESSAGES: whole["paths"][MESSAGES]}, "components": components}


@pytest.fixture(scope="module")
def lists(description):
    """The answers to a list that the description shows, by name."""
    content = description["paths"][MESSAGES]["get"]["responses"]["200"]["content"]["application/json"]
    return {name: example["value"] for name, example in content["examples"].items()}


@pytest.fixture(scope="module")
def server(description, tmp_path_factory):
    file = tmp_path_factory.mktemp("twilio") / "messages.json"
    file.write_text(json.dumps(description), encoding="utf-8")
    # Not with --errors: the answers shown break the description's own rules (relative addresses as `uri`).
    with prism(file) as url:
        yield url


def twilio(url, **changes):
    address = "https://notify.example.com/receipts/twilio"
    settings = {"account_sid": ACCOUNT, "auth": (ACCOUNT, "t"), "sender": SENDER, "receipts_address": address}
    return TwilioProvider("twilio", **settings | changes, url=url)


def test_send__beside_twilios_description__is_valid(server):
    verdict = twilio(server).send(MESSAGE, timeout_seconds=20)

    assert (verdict.outcome, verdict.error_code) == (Outcome.ACCEPTED, "")
    assert re.fullmatch("(SM|MM)[0-9a-fA-F]{32}", verdict.provider_message_id)


def test_look_up__beside_twilios_description__is_valid(server):
    finding = twilio(server).look_up(MESSAGE, since=SINCE, timeout_seconds=20)

    # It answers with the messages shown, which are to somebody else. What is not valid it refuses, see below.
    assert (finding.found, finding.error_code) == (Found.UNKNOWN, "unclear_answer")


def test_description__missing_recipient__is_refused(server):
    reply = twilio(server).post(server + PATH, data={"Body": "x"}, auth=(ACCOUNT, "t"), timeout_seconds=20)

    assert 400 <= reply.status < 500


def test_description__wrong_query_of_a_list__is_refused(server):
    url = f"{server}{PATH}?PageSize=0"
    reply = twilio(server).call("GET", url, auth=(ACCOUNT, "t"), timeout_seconds=20)

    assert 400 <= reply.status < 500


def test_look_up__answers_that_the_description_shows__are_understood(lists):
    full, empty = lists["readFullPage1"], lists["readEmptySentdateLess"]
    shown = full["messages"][0]
    message = replace(MESSAGE, recipient=shown["to"], body=shown["body"])
    created = datetime.strptime(shown["date_created"], "%a, %d %b %Y %H:%M:%S %z").astimezone(UTC)
    page = full | {"messages": [shown]}

    with FaultServer(in_turn(answer(200, page), answer(200, empty))) as peer:
        finding = twilio(peer.url, sender=shown["from"]).look_up(message, since=created, timeout_seconds=10)

    assert (finding.found, finding.provider_message_id) == (Found.ACCEPTED, shown["sid"])
    assert "PageToken" in target(peer.requests[1])[2]


def test_look_up__empty_list_that_the_description_shows__is_absent(lists):
    with FaultServer(in_turn(answer(200, lists["readEmptySentdateLess"]))) as peer:
        finding = twilio(peer.url).look_up(MESSAGE, since=SINCE, timeout_seconds=10)

    assert finding.found is Found.ABSENT
