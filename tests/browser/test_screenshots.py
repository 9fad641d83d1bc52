"""Pictures of the main pages for the documentation: `NOTIFYQ_SCREENSHOTS=1 make test ARGS="-k screenshots"`.

Not at every run: the times on them would make each picture another file.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from notifyq.roles import Role
from tests.browser import IN_THE_BROWSER, pages
from tests.browser.pages import DeadLetters
from tests.browser.seed import seed
from tests.browser.visitor import BrowserWindow, Visitors
from tests.support.source import ROOT

pytestmark = [
    *IN_THE_BROWSER,
    pytest.mark.skipif(
        os.environ.get("NOTIFYQ_SCREENSHOTS") != "1", reason="pictures for docs/ are made with NOTIFYQ_SCREENSHOTS=1"
    ),
]
IMAGES = ROOT / "docs" / "images"
BYTES_MOST = 150_000


def test_screenshots__of_the_main_pages__are_made_and_small(visitors: Visitors) -> None:
    story = seed()
    operator, viewer = visitors.open(Role.OPERATOR), visitors.open(Role.VIEWER)
    IMAGES.mkdir(exist_ok=True)

    made = [
        take(operator, "overview", pages.FRONT),
        take(operator, "dead-letters", pages.DEAD_LETTERS),
        take(viewer, "viewer", f"{pages.NOTIFICATIONS}?status=DEAD_LETTERED"),
        take(operator, "notification", pages.notification(story.pk)),
    ]
    DeadLetters.opened(operator).ask_to_retry_what_matches()
    made.append(take(operator, "retry"))

    assert {file.name: file.stat().st_size for file in made if file.stat().st_size > BYTES_MOST} == {}


def take(window: BrowserWindow, name: str, address: str = "") -> Path:
    """Make the picture of an address, or of the page as it stands."""
    page = window.go(address) if address else window.page
    file = IMAGES / f"{name}.png"
    page.screenshot(path=file, animations="disabled", caret="hide")
    return file
