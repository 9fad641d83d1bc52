"""The story of a client whose server was down: its webhook events have failed, it is back, they are delivered again."""

from __future__ import annotations

from notifications import queue
from notifications.models import BulkAct
from notifyq.roles import Role
from tests.browser import IN_THE_BROWSER
from tests.browser.pages import FrontPage, WebhookEvents
from tests.browser.visitor import Visitors
from tests.support.bulk import work_to_the_end
from tests.support.receiver import Receiver
from tests.support.webhook_pass import one_pass
from tests.support.webhook_rows import SECRET, an_endpoint, some_events
from webhooks.models import Redelivery, WebhookEvent
from webhooks.status import EventStatus

pytestmark = IN_THE_BROWSER
COUNT, TICKED = 5, 2


def test_redelivery__some_first_and_then_all_that_match__each_arrives_once_more(visitors: Visitors) -> None:
    """Without JavaScript, which none of this needs."""
    operator = visitors.open(Role.OPERATOR, java_script_enabled=False)
    with Receiver() as receiver:
        endpoint = an_endpoint(receiver.url)
        ids = {str(event.pk) for event in some_events(endpoint, COUNT, status=EventStatus.FAILED, attempt_count=10)}
        events = WebhookEvents.opened(operator)
        assert events.statuses == ["FAILED"] * COUNT

        events.tick(TICKED)
        asked = events.ask_to_redeliver()
        assert asked.confirm("to see whether it answers") == [f"Redeliver: done for {TICKED} of {TICKED}."]
        one_pass()
        assert len(receiver.requests) == TICKED

        preview = WebhookEvents.opened(operator).ask_to_redeliver_what_matches()
        assert preview.counted == str(COUNT - TICKED)
        progress = preview.confirm("it does")
        assert f"0 of {COUNT - TICKED} done" in progress.text
        [in_hand] = FrontPage(operator).acts_in_hand
        assert "Redeliver webhook events" in in_hand
        assert f"0 of {COUNT - TICKED} done" in in_hand
        page = operator.page
        page.go_back()
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Resume").wait_for()
        assert queue.work_off(2.0) == 0
        page.get_by_role("button", name="Resume").click()
        page.get_by_role("button", name="Stop").wait_for()
        work_to_the_end(BulkAct.objects.get())
        page.reload()
        progress.wait_until_done()
        one_pass()

        received = receiver.requests
    assert {request.event_id for request in received} == ids
    assert len(received) == COUNT
    assert all(request.verify(SECRET) for request in received)
    assert set(WebhookEvent.objects.values_list("status", "cycle")) == {(EventStatus.DELIVERED, 2)}
    assert sorted(Redelivery.objects.values_list("actor", "reason")) == [
        *[("operator", "it does")] * (COUNT - TICKED),
        *[("operator", "to see whether it answers")] * TICKED,
    ]
    assert WebhookEvents.opened(operator).statuses == []
    assert FrontPage(operator).acts_in_hand == []
