"""Fixtures for every test. Where PostgreSQL comes from: notifyq.embedded.pytest_plugin."""

from tests.support.hangup import hang_up as hang_up
