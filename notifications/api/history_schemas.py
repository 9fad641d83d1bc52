"""The history of a notification in the OpenAPI document: attempts, questions to providers, and their receipts."""

from __future__ import annotations

from notifications.api import examples
from notifications.api.json_schema import instant, one_of, or_null, text, whole, whole_object
from notifications.outcome import BUG, EXPIRED, LOST, NO_PROVIDER, NOT_DELIVERED, NOT_RECEIVED, UNCONFIRMED
from notifications.push_target import NO_PUSH_TARGET
from notifications.receipts import DeliveryStatus
from notifications.verdict import Found, Outcome

ERROR_CODES = (
    f"The provider's own code, or a reason of the service's: `{UNCONFIRMED}` (it may have been sent and nobody can "
    f"say; held for an operator), `{NOT_DELIVERED}` (an operator decided so), `{EXPIRED}` (its time to live was over), "
    f"`{NOT_RECEIVED}` (the provider was asked and never had it), `{LOST}` (its worker died), "
    f"`{NO_PROVIDER}` (nobody serves an address of its kind), `{BUG}` (a fault of the "
    f"service), `{NO_PUSH_TARGET}` (on a SENT push: its device is gone, and the person has the in-app copy)."
)

ATTEMPT = whole_object(
    {
        "cycle": whole("Grows with each operator retry."),
        "number": whole("Grows with each counted attempt of a cycle."),
        "hop": whole("Grows with each provider tried within an attempt."),
        "provider": or_null(text("Who was asked to send it.")),
        "outcome": one_of(Outcome, "The provider's verdict; LOST when the worker died."),
        "errorCode": or_null(text(f"Stable, for programs. {ERROR_CODES}")),
        "errorMessage": or_null(text("For people.")),
        "providerMessageId": or_null(text("The provider's own id for it.")),
        "startedAt": or_null(instant("When the request went out.")),
        "finishedAt": instant("When the verdict was known."),
    },
    "One try with one provider.",
) | {"example": examples.ATTEMPT}

RECEIPT = whole_object(
    {
        "provider": text("Who reported it."),
        "status": one_of(DeliveryStatus, "What it reported."),
        "vendorStatus": or_null(text("The provider's own word for it, such as `queued` or `sent` for ACCEPTED.")),
        "code": or_null(text("The provider's own code.")),
        "message": or_null(text("For people; addresses are left out.")),
        "providerMessageId": or_null(text("The provider's own id for the message.")),
        "occurredAt": or_null(instant("When it happened, as the provider says; the list goes by it.")),
        "receivedAt": instant("When it was reported."),
    },
    "A report of a provider on what became of the message.",
) | {"example": examples.RECEIPT}
LOOK_UP = whole_object(
    {
        "cycle": whole("Grows with each operator retry."),
        "provider": text("Who was asked."),
        "found": one_of(
            Found, "ACCEPTED: it has it. REJECTED: it refused it. ABSENT: it never had it. UNKNOWN: it could not say."
        ),
        "errorCode": or_null(text("Why it was refused, or is not known.")),
        "errorMessage": or_null(text("For people.")),
        "askedCount": whole("How often this was the answer.", minimum=1),
        "firstAskedAt": instant("When it first was."),
        "lastAskedAt": instant("When it last was."),
    },
    "An answer of a provider that was asked what became of a send.",
) | {"example": examples.LOOK_UP}
