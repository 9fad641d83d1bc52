"""What the pages of bulk acts say of each kind of them. Other apps bring theirs: they know this app, it does not know
them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from notifications.models import BulkAct

Described = list[tuple[str, Any]]
"""A stored filter as (what, value) in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What is said of one act.

    Attributes:
        verb: by itself, such as `Mark as sent`.
        on: with a place for what it is done to, such as `Mark {} as sent`.
        effect: what it does to each of them, in sentences.
        left_alone: why what matches cannot be acted on.
        moved_on: why what was counted no longer matched when its turn came.
        is_final: nothing brings back what it is done to.
    """

    verb: str
    on: str
    effect: str
    left_alone: str
    moved_on: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """Acts on rows of one table.

    Attributes:
        noun: what one row is.
        operate: the permission to look, begin, stop and resume.
        preview_name: of the page that looks and begins.
        invitation: the words that lead there.
        describe: stored filters in words; the flag says whether recipients may be seen.
        words: what is said of each of its acts, by `BulkAction`.
    """

    noun: str
    operate: str
    preview_name: str
    invitation: str
    describe: Callable[[Sequence[Mapping[str, Any]], bool], list[Described]]
    words: Mapping[str, Words]

    def on_many(self, action: str) -> str:
        """Such as `Mark notifications as sent`."""
        return self.words[action].on.format(f"{self.noun}s")

    def on_all(self, action: str) -> str:
        """Such as `Mark every notification that matches as sent`."""
        return self.words[action].on.format(f"every {self.noun} that matches")

    def on_count(self, action: str, count: int | None) -> str:
        """Such as `Mark 1,200 notifications as sent`; None: they could not be counted."""
        some = "all of them" if count is None else f"{count:,} {self.noun}{'' if count == 1 else 's'}"
        return self.words[action].on.format(some)


_kinds: dict[str, Kind] = {}


def add_kind(kind: Kind) -> None:
    """Bring the words for some acts. Called when the app's admin module is loaded."""
    _kinds.update({str(action): kind for action in kind.words})


def kind_of(act: BulkAct) -> Kind:
    """Of an act that is stored."""
    return kind_by(act.action)


def kind_by(action: str) -> Kind:
    """That has acts of this name."""
    return _kinds[action]


def kinds() -> list[Kind]:
    """Each of them once, in the order in which they were brought."""
    return list({kind.preview_name: kind for kind in _kinds.values()}.values())


def describe_all(acts: Sequence[BulkAct], *, may_see: bool) -> dict[Any, Described]:
    """The filters of acts in words, by the acts' ids; each kind is asked once.

    Args:
        may_see: recipients in the clear.
    """
    described: dict[Any, Described] = {}
    for kind in kinds():
        own = [act for act in acts if kind_of(act) is kind]
        found = kind.describe([{"action": act.action} | act.selection for act in own], may_see) if own else []
        described.update(zip((act.pk for act in own), found, strict=True))
    return described
