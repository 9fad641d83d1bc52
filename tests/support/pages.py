"""The blocks of code on the pages for users, for tests that carry a page out as it is written."""

from __future__ import annotations

import re

from tests.support.source import ROOT


def blocks(page: str, language: str) -> list[str]:
    """The blocks of that language on docs/`page`.md, in order."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
