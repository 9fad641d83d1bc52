"""From a vendor's code to a verdict. Pure."""

from __future__ import annotations

from notifications.providers.http import Answer
from notifications.verdict import Outcome, Verdict

Meaning = tuple[Outcome, str]
"""REJECTED, PROVIDER_FAULT, or TEMPORARY (which here is always "slower"), and a text of ours, behind
which the vendor's own is shown."""


def refusal(answer: Answer, code: str, meaning: Meaning) -> Verdict:
    """The verdict on an answer in which the vendor says by a known code that it did not take the message."""
    outcome, text = meaning[0], answer.telling(meaning[1])
    if outcome is Outcome.REJECTED:
        return Verdict.rejected(code, text)
    if outcome is Outcome.PROVIDER_FAULT:
        return Verdict.provider_fault(code, text)
    return Verdict.temporary(code, text, retry_after_seconds=answer.retry_after_seconds, throttled=True)
