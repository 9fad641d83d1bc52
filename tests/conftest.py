"""Fixtures for every test. Where PostgreSQL comes from: notifyq.embedded.pytest_plugin."""
