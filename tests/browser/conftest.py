"""The console as people use it: a real server on the real database, looked at in Debian's chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission

from notifyq import roles
from notifyq.roles import Role
from tests.browser.visitor import BrowserWindow, Visitors
from tests.support.outage import SimulatedVendor, simulated_vendor
from tests.support.peers import missing, need

CHROMIUM = Path("/usr/bin/chromium")
# No sandbox, as CI runs as root; and nothing that asks the network for anything.
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Closed before tests from elsewhere follow: they may have event loops of their own."""
    playwright = need("playwright.sync_api")
    if not CHROMIUM.exists():
        missing(f"{CHROMIUM} is not installed")
    with pytest.MonkeyPatch.context() as patch:
        # Playwright keeps an event loop in this thread, in which Django would refuse to ask the database.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        with playwright.sync_playwright() as running:
            launched = running.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
            yield launched
            launched.close()


@pytest.fixture
def visitors(browser: Any, live_server: Any) -> Iterator[Visitors]:
    """Opens windows; when the test is over, none of them must have seen anything wrong."""
    roles.provide(Group, Permission)  # the test before has emptied the tables
    with Visitors(browser, live_server.url) as windows:
        yield windows
    assert not windows.troubles, "\n".join(windows.troubles)


@pytest.fixture
def operator(visitors: Visitors) -> BrowserWindow:
    return visitors.open(Role.OPERATOR)


@pytest.fixture
def viewer(visitors: Visitors) -> BrowserWindow:
    return visitors.open(Role.VIEWER)


@pytest.fixture
def vendor(tmp_path: Path) -> Iterator[SimulatedVendor]:
    with simulated_vendor(tmp_path / "sandbox.sqlite3") as serving:
        yield serving
