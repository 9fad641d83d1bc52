"""Events of Amazon SES, sent through a topic of SNS.

Source: AWS's pages on the contents of event notifications of Amazon SES, 2026-11. Tags of a message come back in
`mail.tags`, each as a list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from notifications.receipts import sns
from notifications.receipts.base import Call, Received, Receiver, Unreadable, check_fresh, loads, part, signed_object
from notifications.receipts.making import of_text, receipt
from notifications.receipts.status import DeliveryStatus as To

TAG = "notifyq_id"
_STATUSES = {
    "Send": To.ACCEPTED,
    "Delivery": To.DELIVERED,
    "DeliveryDelay": To.DELAYED,
    "Open": To.OPENED,
    "Click": To.OPENED,
    "Reject": To.REJECTED,
    "Rendering Failure": To.REJECTED,
    "Complaint": To.COMPLAINED,
}
_PARTS = {"DeliveryDelay": "deliveryDelay", "Rendering Failure": "failure"}


class SesReceiver(Receiver):
    """In place of secrets it has the ARNs of the topics that it listens to: anybody can have SNS sign something."""

    kind = "ses"
    good_form: ClassVar[re.Pattern[str]] = sns.TOPIC
    good_looks: ClassVar[str] = "ARNs of SNS topics, such as arn:aws:sns:eu-west-1:123456789012:ses-events"

    def __init__(self, name: str, secrets: Sequence[str], fetch: sns.Fetch = sns.fetch) -> None:
        super().__init__(name, secrets)
        self._envelopes = sns.Envelopes(secrets, fetch)

    def receive(self, call: Call, *, now: datetime) -> Received:
        envelope = signed_object(call.body)
        self._envelopes.check(envelope)
        stamped = of_text(envelope.get("Timestamp"))
        check_fresh(f"{stamped.timestamp():.0f}" if stamped else "", now, self.kind)
        match envelope.get("Type"):
            case "SubscriptionConfirmation":
                return Received(confirm_url=sns.confirm_url(envelope))
            case "Notification":
                return self._read(envelope)
        return Received()

    def confirm(self, url: str) -> None:
        self._envelopes.confirm(url)

    def _read(self, envelope: Mapping[str, Any]) -> Received:
        event = loads(str(envelope.get("Message") or ""))
        if not isinstance(event, dict):
            raise Unreadable("the message is no object")
        kind = str(event.get("eventType") or event.get("notificationType"))
        told, mail = part(event, _PARTS.get(kind, kind.lower())), part(event, "mail")
        status = _bounced(told) if kind == "Bounce" else _STATUSES.get(kind)
        if status is None or not envelope.get("MessageId"):
            return Received()
        tag = part(mail, "tags").get(TAG)
        code, text = _words(told)
        made = receipt(
            self.name,
            status,
            key=tag[0] if isinstance(tag, list) and tag else None,
            message_id=mail.get("messageId"),
            event=(envelope["MessageId"],),
            word=kind,
            code=code,
            text=text,
            at=of_text(told.get("timestamp") or mail.get("timestamp")),
        )
        return Received((made,))


def _bounced(told: Mapping[str, Any]) -> To:
    """A transient bounce is one that SES has given up on: a full mailbox, a server that was away."""
    return To.UNDELIVERED if told.get("bounceType") == "Transient" else To.BOUNCED


def _words(told: Mapping[str, Any]) -> tuple[Any, Any]:
    """The vendor's code and text, wherever the kind of event has them."""
    people = told.get("bouncedRecipients") or told.get("delayedRecipients")
    person = people[0] if isinstance(people, list) and people and isinstance(people[0], dict) else {}
    kinds = [told.get(name) for name in ("bounceType", "bounceSubType") if told.get(name)]
    code = person.get("status") or told.get("complaintFeedbackType") or told.get("delayType")
    text = person.get("diagnosticCode") or told.get("reason") or told.get("errorMessage") or told.get("smtpResponse")
    return code or " ".join(str(kind) for kind in kinds), text
