"""Where the modules compiled during a run of the tests are kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from notifyq.embedded.pytest_plugin import keep_compiled

IMPORTS = "import a_module"
FORBIDS, PLACE = "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a module, where Python may not write what it compiles."""
    monkeypatch.setenv(FORBIDS, "1")
    monkeypatch.setenv(PLACE, "")  # so that it is unset afterwards, whatever the test does
    monkeypatch.delenv(PLACE)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a_module.py").write_text("")
    return tmp_path / "source"


def compiled_of(directory: Path) -> list[str]:
    return sorted(path.name.partition(".")[0] for path in directory.rglob("*.pyc"))


def test_compiled__forbidden_beside_the_sources__are_kept_elsewhere_by_every_command(
    source: Path, tmp_path: Path
) -> None:
    keep_compiled(tmp_path / "compiled")

    subprocess.run([sys.executable, "-c", IMPORTS], cwd=source, check=True)

    assert "a_module" in compiled_of(tmp_path / "compiled")
    assert compiled_of(source) == []
    assert (sys.dont_write_bytecode, sys.pycache_prefix) == (False, str(tmp_path / "compiled"))


def test_compiled__somebody_has_named_a_place__stay_there(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", "/elsewhere")

    keep_compiled(tmp_path / "compiled")

    assert (sys.dont_write_bytecode, sys.pycache_prefix) == (True, "/elsewhere")
    assert os.environ[FORBIDS] == "1"


def test_compiled__allowed_beside_the_sources__stay_there(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    keep_compiled(tmp_path / "compiled")

    assert sys.pycache_prefix is None
    assert PLACE not in os.environ
