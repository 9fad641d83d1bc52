"""Fixtures for every test, and their order. Where PostgreSQL comes from: notifyq.embedded.pytest_plugin."""

from tests.support.emptying import quick_flush as quick_flush
from tests.support.hangup import hang_up as hang_up
from tests.support.order import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.support.order import pytest_xdist_auto_num_workers as pytest_xdist_auto_num_workers
