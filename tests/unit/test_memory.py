"""The garbage collector of a worker process."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from notifyq.runtime.memory import spare_what_is_loaded


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_spare_what_is_loaded__afterwards__only_what_is_new_is_gone_through() -> None:
    before = len(gc.get_objects())
    spare_what_is_loaded()
    assert gc.get_freeze_count() > before / 2
    assert len(gc.get_objects()) < before / 10
