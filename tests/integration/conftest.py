"""What the tests of the API need, and what those need that commit."""

import pytest

from tests.support.api import Caller
from tests.support.hangup import hang_up as hang_up


@pytest.fixture
def caller(db):
    """A client's key with the default scopes."""
    return Caller()


@pytest.fixture
def operator(db):
    """A key that may see and do everything."""
    return Caller(scopes=("operate",))
