"""What the pages say of each bulk act on notifications. Verbs are those of the acts on what is ticked."""

from __future__ import annotations

from collections.abc import Mapping

from notifications.admin.bulk_kinds import Words
from notifications.admin.ticked.origin import WORDINGS
from notifications.models import BulkAction
from notifications.story.acts import Deed

_MOVED_ON = "sent, ended or dealt with by somebody else meanwhile"
_KNOWN = "not held as unconfirmed, so it is known that they were not sent"


def name_of(action: BulkAction) -> str:
    """As addresses and forms have it, and as the acts on what is ticked are called there."""
    return action.lower().replace("_", "-")


def _words(action: BulkAction, left_alone: str, effect: str = "", *, is_final: bool = False) -> Words:
    """Args: effect: where it is not just that of the act on what is ticked."""
    wording = WORDINGS[Deed(name_of(action))]
    return Words(
        verb=wording.verb,
        on=wording.on_several,
        effect=effect or wording.effect,
        left_alone=left_alone,
        moved_on=_MOVED_ON,
        is_final=is_final,
    )


WORDS: Mapping[str, Words] = {
    BulkAction.RETRY: _words(
        BulkAction.RETRY,
        "past their time to live, or perhaps sent already",
        "They are sent again, now, with all their attempts. What fails again is not retried again by this act.",
    ),
    BulkAction.CANCEL: _words(BulkAction.CANCEL, "perhaps sent already", is_final=True),
    BulkAction.RESCHEDULE: _words(
        BulkAction.RESCHEDULE, "perhaps sent already, past their time to live by then, or moved to that time before"
    ),
    BulkAction.RESOLVE_SENT: _words(
        BulkAction.RESOLVE_SENT,
        _KNOWN,
        "They become SENT, their clients are told so, and they are never sent again. This cannot be undone. Do it only "
        "when you know that every one of them was delivered, such as from the provider\u2019s own log.",
        is_final=True,
    ),
    BulkAction.RESOLVE_FAILED: _words(
        BulkAction.RESOLVE_FAILED,
        _KNOWN,
        "They become FAILED, and their clients are told so. This sends nothing; each can then be retried, through any "
        "provider, as one that was certainly not sent. Do it only when you know that none of them was delivered: one "
        "that was would be received twice.",
    ),
}
