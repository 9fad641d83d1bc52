"""A fixture for packages whose tests commit: the thread that rings the workers keeps its connection for a while, and
the test database cannot be dropped while one is open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection


@pytest.fixture(scope="session", autouse=True)
def hang_up(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Ends all other connections to the test database just before it is dropped."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
