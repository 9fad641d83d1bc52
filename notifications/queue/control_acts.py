"""The record of what people did to breakers, pauses and limits, written in the transaction of the effect."""

from __future__ import annotations

from notifications.models import Control, ControlAct, ControlAction


def record_control(
    control: Control, name: str, action: ControlAction, *, by: str, reason: str, before: str = "", after: str = ""
) -> None:
    """Record one act that had an effect.

    Args:
        name: which of them, as its row calls itself.
        by: a client with the beginning of its key, a user's name, or who ran the command; never a secret.
        before, after: what a limit said until then, and says since; empty where it said nothing.

    Transaction: the caller's.
    """
    ControlAct.objects.create(
        control=control, name=name, action=action, actor=by, reason=reason, before=before, after=after
    )


def last_control_act(control: Control, name: str) -> ControlAct | None:
    """The latest act on it; None when there was none. Index: `control_act_of_one`."""
    return ControlAct.objects.filter(control=control, name=name).order_by("-pk").first()
