"""Draws docs/states.md from the table of transitions: `python -m notifications.diagram` rewrites the generated part."""

from __future__ import annotations

from pathlib import Path

from notifications.status import FINAL, TRANSITIONS, Status

PAGE = Path(__file__).resolve().parent.parent / "docs" / "states.md"
BEGIN = "<!-- generated from notifications/status.py by `python -m notifications.diagram`; do not edit -->"
END = "<!-- end of the generated part -->"


def refreshed(page: str) -> str:
    """The page with its generated part made anew.

    Args:
        page: the text of docs/states.md.

    Raises:
        ValueError: the marks around the generated part are missing.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{PAGE.name} has lost the marks around its generated part")
    return f"{before}{BEGIN}\n\n{_diagram()}\n\n{_table()}\n\n{END}{after}"


def _diagram() -> str:
    """A Mermaid state diagram: one arrow for each pair of states, named after whoever moves the row."""
    arrows: dict[tuple[Status, Status], list[str]] = {}
    for move in TRANSITIONS:
        arrows.setdefault((move.source, move.target), []).append(move.by)
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> PENDING : submit"]
    lines += [f"    {source} --> {target} : {', '.join(by)}" for (source, target), by in arrows.items()]
    # DEAD_LETTERED and FAILED are final too, but an operator may move them on; the others end here.
    lines += [f"    {status} --> [*]" for status in Status if status in FINAL and not _leaves(status)]
    return "\n".join([*lines, "```"])


def _leaves(status: Status) -> bool:
    return any(move.source == status for move in TRANSITIONS)


def _table() -> str:
    rows = [f"| {m.source} | {m.target} | {m.by} | {m.when} |" for m in TRANSITIONS]
    return "\n".join(["| from | to | by | when |", "|---|---|---|---|", *rows])


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
