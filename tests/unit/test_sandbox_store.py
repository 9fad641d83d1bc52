"""The sandbox's file: what it lets others see."""

import os

import pytest

from notifyq.sandbox.store import Store


@pytest.mark.parametrize("there_before", [False, True], ids=["new", "left open by an earlier version"])
def test_store__and_the_files_beside_it__are_private(tmp_path, there_before):
    path = tmp_path / "store.sqlite3"
    if there_before:
        path.touch(0o644)
        path.chmod(0o644)
    old_mask = os.umask(0o022)
    try:
        store = Store(path)
        with store.writing() as writing:
            writing.count_request()
        modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
        store.close()
    finally:
        os.umask(old_mask)

    assert modes == dict.fromkeys(("store.sqlite3", "store.sqlite3-wal", "store.sqlite3-shm"), 0o600)
