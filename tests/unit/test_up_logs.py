"""What a process of `manage.py up` wrote before it was started anew."""

from __future__ import annotations

from pathlib import Path

from notifyq.up.children import put_aside


def test_log__of_the_run_before__is_kept_once(tmp_path: Path) -> None:
    log, kept = tmp_path / "api.log", tmp_path / "api.log.1"
    put_aside(log)
    assert not kept.exists()

    for text in ("first", "second"):
        log.write_text(text)
        put_aside(log)

    assert (log.exists(), kept.read_text()) == (False, "second")


def test_log__that_is_empty__does_not_replace_the_one_before(tmp_path: Path) -> None:
    log, kept = tmp_path / "api.log", tmp_path / "api.log.1"
    kept.write_text("the fault")
    log.touch()

    put_aside(log)

    assert kept.read_text() == "the fault"
