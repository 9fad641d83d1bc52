"""Fixtures for every test, and their order. Where PostgreSQL comes from: notifyq.embedded.pytest_plugin."""

import os

from hypothesis import HealthCheck, settings

from tests.support.cheaper import quick_passwords as quick_passwords
from tests.support.cheaper import static_files_found_once as static_files_found_once
from tests.support.emptying import quick_flush as quick_flush
from tests.support.fixed import fixed_anew as fixed_anew
from tests.support.fixed import looked_anew as looked_anew
from tests.support.hangup import hang_up as hang_up
from tests.support.order import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.support.order import pytest_xdist_auto_num_workers as pytest_xdist_auto_num_workers
from tests.support.template import django_db_modify_db_settings as django_db_modify_db_settings
from tests.support.template import pytest_sessionfinish as pytest_sessionfinish

# A worker that a test starts without a sandbox of its own must not find the one of another test, or of a `make up`.
os.environ.setdefault("NOTIFYQ_SANDBOX_URL", "http://127.0.0.1:9")

# How long an example takes says more about the machine and its other work than about what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
