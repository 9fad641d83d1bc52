"""Fixtures for every test. Where PostgreSQL comes from: notifyq.embedded.pytest_plugin."""

import os

from tests.support.hangup import hang_up as hang_up

# A worker that a test starts without a sandbox of its own must not find the one of another test, or of a `make up`.
os.environ.setdefault("NOTIFYQ_SANDBOX_URL", "http://127.0.0.1:9")
