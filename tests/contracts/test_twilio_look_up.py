"""Asking Twilio for a message that has no key: only exactly one match counts, and only a whole list says "none"."""

import logging
from datetime import timedelta

import pytest

from notifications.providers.sms.twilio import TwilioProvider
from notifications.providers.sms.twilio_search import PAGES_MOST
from notifications.verdict import Found
from tests.support.fault_server import FaultServer, closed_port
from tests.support.sms import BODY, MESSAGE, RECIPIENT, SENDER, SINCE, answer, http_date, in_turn, target

ACCOUNT = "AC" + "0" * 32
PATH = f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json"
SIDS = ["SM" + str(n) * 32 for n in range(10)]


def listed(number=1, **changes):
    """A message as Twilio lists it, created when ours may have been."""
    return {
        "sid": SIDS[number],
        "to": RECIPIENT,
        "from": SENDER,
        "body": BODY,
        "direction": "outbound-api",
        "date_created": http_date(SINCE + timedelta(seconds=5)),
        "date_sent": None,
        "status": "queued",
    } | changes


def page(*messages, following=None, **headers):
    return answer(200, {"messages": list(messages), "next_page_uri": following, "page_size": 20}, **headers)


def look_up(*answers, sender=SENDER, since=SINCE, timeout_seconds=10.0):
    with FaultServer(in_turn(*answers)) as server:
        provider = TwilioProvider("twilio", account_sid=ACCOUNT, auth=(ACCOUNT, "token"), sender=sender, url=server.url)
        finding = provider.look_up(MESSAGE, since=since, timeout_seconds=timeout_seconds)
        provider.close()
    assert RECIPIENT not in repr(finding)
    return finding, server.requests


EARLIER = http_date(SINCE - timedelta(minutes=5))
JUST_BEFORE = http_date(SINCE - timedelta(seconds=60))
OTHER = {"body": "something else"}
NEXT = f"{PATH}?PageSize=20&Page=1&PageToken=PASM1"

CASES = {
    "no message at all": ([page()], Found.ABSENT, ""),
    "exactly one": ([page(listed())], Found.ACCEPTED, ""),
    "one that failed since": ([page(listed(status="failed"))], Found.ACCEPTED, ""),
    "one among others": ([page(listed(2, **OTHER), listed(1))], Found.ACCEPTED, ""),
    "in the same second": ([page(listed(date_created=http_date(SINCE)))], Found.ACCEPTED, ""),
    "on the second page": ([page(listed(2, **OTHER), following=NEXT), page(listed(1))], Found.ACCEPTED, ""),
    "only others": ([page(listed(2, **OTHER))], Found.ABSENT, ""),
    "only earlier": ([page(listed(date_created=EARLIER))], Found.ABSENT, ""),
    "an answer to us": ([page(listed(direction="inbound"))], Found.ABSENT, ""),
    "two": ([page(listed(1), listed(2))], Found.UNKNOWN, "ambiguous_match"),
    "two on two pages": ([page(listed(1), following=NEXT), page(listed(2))], Found.UNKNOWN, "ambiguous_match"),
    "by clocks that differ": ([page(listed(date_created=JUST_BEFORE))], Found.UNKNOWN, "ambiguous_match"),
    "redacted": ([page(listed(body=""))], Found.UNKNOWN, "ambiguous_match"),
    "of a trial account": (
        [page(listed(body=f"Sent from a trial account - {BODY}"))],
        Found.UNKNOWN,
        "ambiguous_match",
    ),
    "with other spaces": ([page(listed(body="private\u00a0body text"))], Found.UNKNOWN, "ambiguous_match"),
    "one and a resemblance": ([page(listed(1), listed(2, body=f"{BODY}."))], Found.UNKNOWN, "ambiguous_match"),
    "to somebody else": ([page(listed(to="+14155550111"))], Found.UNKNOWN, "unclear_answer"),
    "without an id": ([page(listed(sid=None))], Found.UNKNOWN, "unclear_answer"),
    "without a date": ([page(listed(date_created=None))], Found.UNKNOWN, "unclear_answer"),
    "with no date": ([page(listed(date_created="yesterday"))], Found.UNKNOWN, "unclear_answer"),
    "without a direction": ([page(listed(direction=None))], Found.UNKNOWN, "unclear_answer"),
    "a message that is none": ([page("SM1")], Found.UNKNOWN, "unclear_answer"),
    "no list": ([answer(200, {"messages": None, "next_page_uri": None})], Found.UNKNOWN, "unclear_answer"),
    "no end": ([answer(200, {"messages": []})], Found.UNKNOWN, "unclear_answer"),
    "an empty answer": ([answer(200, {})], Found.UNKNOWN, "unclear_answer"),
    "another host": ([page(following="https://evil.example/x")], Found.UNKNOWN, "unclear_answer"),
    "another list": ([page(following="/2010-04-01/Accounts.json?x")], Found.UNKNOWN, "unclear_answer"),
    "cut off": ([page(listed(1), following=NEXT), answer(500, {})], Found.UNKNOWN, "http_500"),
    "no second page": ([page(following=NEXT)], Found.UNKNOWN, "connection_lost"),
    "refused": ([answer(401, {"code": 20003})], Found.UNKNOWN, "http_401"),
    "throttled": ([answer(429, {"code": 20429}, Retry_After="9")], Found.UNKNOWN, "http_429"),
}


@pytest.mark.parametrize("case", CASES)
def test_look_up__list__says_no_more_than_it_proves(case):
    answers, found, code = CASES[case]

    finding, requests = look_up(*answers)

    assert (finding.found, finding.error_code) == (found, code)
    assert finding.provider_message_id == (SIDS[1] if found is Found.ACCEPTED else "")
    assert len(requests) >= len(answers)


def test_look_up__throttled__carries_the_wish():
    finding, _ = look_up(answer(429, {}, Retry_After="9"))

    assert finding.retry_after_seconds == 9


def test_look_up__list_without_an_end__is_given_up():
    finding, requests = look_up(*[page(following=NEXT)] * (PAGES_MOST + 1))

    assert (finding.found, finding.error_code) == (Found.UNKNOWN, "list_too_long")
    assert len(requests) == PAGES_MOST


def test_look_up__no_time_left__is_unknown():
    finding, requests = look_up(page(), timeout_seconds=0)

    assert (finding.found, requests) == (Found.UNKNOWN, [])


@pytest.mark.parametrize("age", [timedelta(minutes=1), timedelta(days=3)])
def test_look_up__nothing_found_too_early_or_too_late__proves_nothing(age):
    finding, _ = look_up(page(Date=http_date(SINCE + age)))

    assert finding.found is Found.UNKNOWN


def test_look_up__nobody_there__is_unknown():
    provider = TwilioProvider(
        "twilio", account_sid=ACCOUNT, auth=(ACCOUNT, "x"), sender=SENDER, url=f"http://127.0.0.1:{closed_port()}"
    )

    assert provider.look_up(MESSAGE, since=SINCE, timeout_seconds=1).error_code == "connect_refused"


@pytest.mark.parametrize(("sender", "narrowed"), [(SENDER, {"From": SENDER}), ("MG" + "f" * 32, {})])
def test_look_up__request__asks_for_recipient_and_sender_only(sender, narrowed):
    _, [request] = look_up(page(), sender=sender)

    assert target(request) == ("GET", PATH, {"To": RECIPIENT, "PageSize": "20", **narrowed})


@pytest.mark.parametrize("case", ["cut off", "no second page", "without a date", "two", "exactly one"])
def test_look_up__whatever_comes_of_it__leaves_nothing_private_in_the_log(case, caplog):
    caplog.set_level(logging.DEBUG)

    look_up(*CASES[case][0])

    assert RECIPIENT.lstrip("+") not in caplog.text
    assert BODY not in caplog.text
