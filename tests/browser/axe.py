"""axe-core: finds what keeps people with other eyes, hands and readers out of a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from tests.support.node import peers_home

GRAVE = ("serious", "critical")
_RUN = """
async (rules) => {
  const options = { resultTypes: ["violations"], preload: false };
  const found = await axe.run(document, rules.length ? { ...options, runOnly: rules } : options);
  const place = (node) => `${node.target.join(" ")}: ${node.failureSummary}`;
  return found.violations.map((fault) => [fault.impact, fault.id, fault.nodes.map(place)]);
}
"""


@cache
def _source() -> str:
    return (peers_home() / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def grave_faults(page: Any, rules: Sequence[str] = ()) -> list[str]:
    """What axe-core calls serious or critical on this page, with where it is.

    Args:
        rules: those to try, all of them where there is none.
    """
    page.evaluate(_source())  # by the debugger: no page of ours would load it
    found = page.evaluate(_RUN, list(rules))
    return [f"{rule} at {place}" for impact, rule, places in found if impact in GRAVE for place in places[:3]]
