"""Node and the packages that others wrote, to test against; installed once into the data directory."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path

from tests.support.peers import missing

TESTS_DATA = Path(__file__).resolve().parent.parent.parent / ".data" / "tests"
HOME = TESTS_DATA / "node"
PACKAGES = {"standardwebhooks": "^1.0.0", "svix": "^1.0.0"}
PEERS_HOME = TESTS_DATA / "peers"
PEERS = {
    "@stoplight/prism-cli": "^5.14.0",
    "@twilio/cli-core": "^8.0.0",
    "axe-core": "^4.10.0",
    "mockttp": "^4.6.0",
    "sms-segments-calculator": "^1.2.0",
}


def node_home() -> Path:
    """A directory from which Node finds `PACKAGES`. Without Node or npm the test is skipped, in CI it fails."""
    return _provide(HOME, PACKAGES)


def peers_home() -> Path:
    """The same for `PEERS`, which are large: they are only installed in CI. Elsewhere, set CI=true to have them."""
    if os.environ.get("CI") != "true" and not _has_all(PEERS_HOME, PEERS):
        return missing("the test peers from npm are not installed (CI=true makes them be)")
    return _provide(PEERS_HOME, PEERS)


def _provide(home: Path, packages: dict[str, str]) -> Path:
    if not (shutil.which("node") and shutil.which("npm")):
        return missing("node and npm are not installed")
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # closing the file unlocks it
        if _has_all(home, packages):
            return home
        (home / "package.json").write_text(json.dumps({"private": True, "dependencies": packages}))
        npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(npm, cwd=home, capture_output=True, text=True, timeout=110)
    return home if done.returncode == 0 else missing(f"npm install failed: {done.stderr[-500:]}")


def _has_all(home: Path, packages: dict[str, str]) -> bool:
    return all((home / "node_modules" / name / "package.json").is_file() for name in packages)


def run_node(script: str, **variables: str) -> str:
    """What the script prints; the variables stand in `process.env`."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(node_home()), **variables}
    done = subprocess.run(["node", "-e", script], cwd=HOME, env=environment, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout
