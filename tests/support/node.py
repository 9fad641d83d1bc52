"""Node and the packages that receivers use, installed once into the data directory."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parent.parent.parent / ".data" / "tests" / "node"
PACKAGES = {"standardwebhooks": "^1.0.0", "svix": "^1.0.0"}


def node_home() -> Path:
    """A directory from which Node finds the packages. Without Node or npm the test is skipped, in CI it fails."""
    if not (shutil.which("node") and shutil.which("npm")):
        return _missing("node and npm are not installed")
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # closing the file unlocks it
        if all((HOME / "node_modules" / name / "package.json").is_file() for name in PACKAGES):
            return HOME
        (HOME / "package.json").write_text(json.dumps({"private": True, "dependencies": PACKAGES}))
        npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(npm, cwd=HOME, capture_output=True, text=True, timeout=100)
    return HOME if done.returncode == 0 else _missing(f"npm install failed: {done.stderr[-500:]}")


def run_node(script: str, **variables: str) -> str:
    """What the script prints; the variables stand in `process.env`."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(node_home()), **variables}
    done = subprocess.run(["node", "-e", script], cwd=HOME, env=environment, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _missing(reason: str) -> Path:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
