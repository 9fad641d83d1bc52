"""What the tests of the API need."""

import pytest

from tests.support.api import Caller


@pytest.fixture
def caller(db):
    """A client's key with the default scopes."""
    return Caller()


@pytest.fixture
def operator(db):
    """A key that may see and do everything."""
    return Caller(scopes=("operate",))
