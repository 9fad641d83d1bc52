"""Whose reports count for a notification: the rule alone."""

from __future__ import annotations

from uuid import uuid4

import pytest

from notifications.channel import Channel
from notifications.queue.creditable import Judgement, Row, can_carry, judge
from notifications.receipts.registry import RECEIVERS
from notifications.status import FINAL, Status

SENDS = {
    **{kind: {Channel.EMAIL} for kind in ("mailgun", "resend", "sendgrid", "ses")},
    **{kind: {Channel.SMS} for kind in ("bulksms", "twilio", "vonage")},
    "sandbox": {Channel.EMAIL, Channel.SMS, Channel.PUSH},
}


def row(status: Status, channel: Channel = Channel.EMAIL, **providers: str) -> Row:
    known = {"unconfirmed_provider": "", "delivery_status": "", "provider": "", "last_used_provider": ""}
    return Row(id=uuid4(), status=status, channel=channel, **known | providers)


@pytest.mark.parametrize("label", ["", ":eu"])
@pytest.mark.parametrize("kind", RECEIVERS)
def test_can_carry__each_provider_that_reports__its_own_channels_and_no_other(kind: str, label: str) -> None:
    assert {channel for channel in Channel if can_carry(f"{kind}{label}", channel)} == SENDS[kind]


def test_can_carry__one_that_is_not_ours__carries_nothing() -> None:
    assert not can_carry("carrier-pigeon", Channel.EMAIL)


@pytest.mark.parametrize("status", Status)
def test_judge__of_a_foreign_channel__is_stray_whatever_its_state(status: Status) -> None:
    found = row(status, unconfirmed_provider="vonage")
    assert judge(found, "vonage", {"vonage"}, is_old=False) is Judgement.STRAY


@pytest.mark.parametrize(
    ("status", "asked", "is_old", "expected"),
    [
        (Status.PROCESSING, False, False, Judgement.HELD),
        (Status.PROCESSING, False, True, Judgement.HELD),
        (Status.PROCESSING, True, False, Judgement.HELD),
        (Status.PENDING, False, False, Judgement.EARLY),
        (Status.PENDING, False, True, Judgement.STRAY),
        (Status.PENDING, True, False, Judgement.COUNTS),
        (Status.RECONCILING, False, False, Judgement.STRAY),
        (Status.RECONCILING, True, True, Judgement.COUNTS),
        *((status, False, False, Judgement.STRAY) for status in sorted(FINAL)),
        *((status, True, False, Judgement.COUNTS) for status in sorted(FINAL)),
    ],
)
def test_judge__of_its_channel__goes_by_who_was_asked(
    status: Status, asked: bool, is_old: bool, expected: Judgement
) -> None:
    traces = {"mailgun", "sendgrid"} if asked else {"mailgun", "sendgrid:eu"}
    assert judge(row(status), "sendgrid", traces, is_old=is_old) is expected


@pytest.mark.parametrize("column", ["unconfirmed_provider", "provider", "last_used_provider"])
def test_row__each_provider_that_it_names__is_a_trace(column: str) -> None:
    assert row(Status.SENT, **{column: "ses"}).own_traces == {"ses"}
