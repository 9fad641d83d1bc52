"""What the tests of the API need."""

import dataclasses

import pytest

from notifications.channel import Channel
from tests.support.api import Caller


@pytest.fixture
def caller(db):
    """A client's key with the default scopes."""
    return Caller()


@pytest.fixture
def operator(db):
    """A key that may see and do everything."""
    return Caller(scopes=("operate",))


@pytest.fixture
def chains(settings):
    """Two providers for e-mail, one of them for the other channels too."""
    settings.NOTIFYQ = dataclasses.replace(
        settings.NOTIFYQ, provider_chains={Channel.EMAIL: ("a", "b:x"), Channel.SMS: ("a",), Channel.PUSH: ("a",)}
    )
