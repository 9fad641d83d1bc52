"""The story of whoever is on call: the provider is down, dead letters come in, it comes back, they are sent again."""

from __future__ import annotations

from notifications.models import Notification, OperatorAction
from notifications.status import Status
from notifyq.roles import Role
from tests.browser import IN_THE_BROWSER
from tests.browser.pages import FrontPage, LoginPage
from tests.browser.visitor import Visitors, person
from tests.support.outage import SimulatedVendor
from tests.support.rows import add, all_are
from tests.support.waiting import wait_until

pytestmark = IN_THE_BROWSER
PASSWORD = "long enough, and only here"
COUNT = 3
"""Fewer failures in a row than would be taken for an outage, after which nothing would be tried any more."""


def test_outage__from_the_first_dead_letter_to_the_last_sent__is_handled_in_the_console(
    visitors: Visitors, vendor: SimulatedVendor
) -> None:
    person(Role.OPERATOR, PASSWORD)
    ids = add(COUNT, max_attempts=1)
    vendor.go_down()
    vendor.drain()
    assert all_are(Status.DEAD_LETTERED, COUNT)

    operator = visitors.open(None)
    LoginPage(operator).log_in("operator", PASSWORD)
    front = FrontPage(operator)
    assert front.figure("dead letters") == str(COUNT)
    why = front.open_dead_letters()
    assert why.groups == [("not_accepted", str(COUNT))]
    dead = why.open_group("not_accepted")
    assert dead.count == COUNT
    one = dead.drill_down()
    assert "not_accepted" in one.text
    assert "TEMPORARY" in one.text

    preview = front.open_dead_letters().open_group("not_accepted").ask_to_retry_what_matches()
    assert preview.counted == str(COUNT)
    assert all_are(Status.DEAD_LETTERED, COUNT)
    vendor.come_back()
    progress = preview.confirm("the vendor is back")
    assert f"0 of {COUNT} done" in progress.text
    with vendor.working():
        progress.wait_until_done()
        wait_until(lambda: all_are(Status.SENT, COUNT), 20, "all are sent")
    assert f"{COUNT} of {COUNT} done" in progress.text
    assert vendor.accepted_count == COUNT
    front = FrontPage(operator)
    assert front.figure("dead letters") == "0"
    assert front.outcome_total("SENT") == str(COUNT)
    acts = OperatorAction.objects.values_list("notification_id", "action", "actor", "reason")
    assert set(acts) == {(row, "RETRY", "operator", "the vendor is back") for row in ids}
    assert set(Notification.objects.values_list("operator_retry_count", flat=True)) == {1}
