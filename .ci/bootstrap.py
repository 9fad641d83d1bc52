"""Makes .venv when it is missing or outdated, then becomes the command asked for. Needs nothing but Python.

Written so that an old Python can still read it and say that it is too old.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed.json"
OLDEST = (3, 11)
IS_NEW = "import sys; sys.exit(sys.version_info < (3, 11))"
NEWER_NAMES = [f"python3.{minor}" for minor in range(20, 10, -1)]

# Each extra contains the ones before it.
EXTRAS = ["embedded", "test", "peers"]
TEST_EXTRA = "peers" if os.environ.get("CI") == "true" else "test"
COMMANDS = {
    "up": ("embedded", [["manage.py", "up"]]),
    "test": (TEST_EXTRA, [["-m", "pytest", "-n", "auto", "--maxprocesses", "8", "--dist", "loadgroup"]]),
    "lint": (
        "test",
        [
            ["-m", "ruff", "check", "."],
            ["-m", "ruff", "format", "--check", "."],
            ["-m", "mypy", "."],
            ["-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        ],
    ),
}
LEFTOVERS = [".venv", "build", "notify_queue.egg-info", ".pytest_cache", ".mypy_cache", ".ruff_cache"]
LEFTOVERS += [".import_linter_cache", ".hypothesis", ".schemathesis", "htmlcov"]


def main(arguments: list) -> int:
    os.chdir(str(ROOT))
    if arguments[:1] == ["clean"]:
        return clean()
    if arguments[:1] and arguments[0] in COMMANDS:
        require_python()
        extra, commands = COMMANDS[arguments[0]]
        provide_venv(extra)
        return run(commands, arguments[1:])
    fail("say one of: clean, " + ", ".join(sorted(COMMANDS)))
    return 2


def require_python() -> None:
    """Go on with a Python that is new enough, or end with one line."""
    if sys.version_info < OLDEST:
        for name in NEWER_NAMES:
            found = shutil.which(name)
            if found and call([found, "-c", IS_NEW], stderr=subprocess.DEVNULL) == 0:
                os.execv(found, [found, *sys.argv])  # noqa: S606
        fail(f"Python 3.11 or later is needed, this is {version()}; name one: make {sys.argv[1]} PYTHON=…")
    if os.name != "posix":
        fail("this needs Linux or macOS; elsewhere, install by hand and set DATABASE_URL")
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        fail(f"{sys.executable} has no venv module; on Debian and Ubuntu: apt-get install python3-venv")


def provide_venv(extra: str) -> None:
    """Install what `extra` names, unless the stamp says it was done from these very files."""
    import fcntl

    with open("pyproject.toml") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)  # two commands at once must not both install
        if is_current(extra):
            return
        began = time.monotonic()
        if not is_usable():
            say(f"Creating .venv with Python {version()}")
            check([sys.executable, "-m", "venv", "--clear", str(VENV)], "the virtual environment could not be made")
        else:
            STAMP.unlink(missing_ok=True)
        install(extra)
        STAMP.write_text(json.dumps(dict(fingerprint(), extra=extra)))
        say(f"Installed in {time.monotonic() - began:.0f} s")


def fingerprint() -> dict:
    """What the installation was made from. The place counts too: a virtual environment cannot be moved."""
    files = b"".join((ROOT / name).read_bytes() for name in ("pyproject.toml", "constraints.txt"))
    return {"files": hashlib.sha256(files).hexdigest(), "place": str(VENV)}


def is_current(extra: str) -> bool:
    stamp = read_stamp()
    installed = stamp.pop("extra", None)
    enough = installed in EXTRAS and EXTRAS.index(installed) >= EXTRAS.index(extra)
    return enough and stamp == fingerprint() and VENV_PYTHON.exists()


def is_usable() -> bool:
    """Whether packages can be installed into .venv as it is."""
    if read_stamp().get("place", str(VENV)) != str(VENV) or not VENV_PYTHON.exists():
        return False
    return call([VENV_PYTHON, "-c", f"import pip; {IS_NEW}"], stderr=subprocess.DEVNULL) == 0


def read_stamp() -> dict:
    try:
        return json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}


def install(extra: str) -> None:
    """Run pip with one line of progress instead of its hundreds; all of them when it fails."""
    command = [str(VENV_PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    command += ["-c", "constraints.txt", "-e", f".[{extra}]"]
    say("Installing packages (once; a minute or so on a slow line)")
    lines = []
    pip = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603
    progress = Progress()
    for line in pip.stdout:
        lines.append(line)
        if line.startswith(("Collecting ", "Obtaining ")):
            progress.show("found " + line.split()[1])
        elif line.startswith("Installing collected"):
            progress.show("unpacking")
    progress.end()
    if pip.wait() != 0:
        sys.stderr.write("".join(lines[-30:]))
        fail("pip could not install the packages; its last words are above")


class Progress:
    """One line that is written over in a terminal; elsewhere a line every ten seconds."""

    def __init__(self) -> None:
        self.count = 0
        self.terminal = sys.stdout.isatty()
        self.shown_at = time.monotonic()

    def show(self, text: str) -> None:
        self.count += 1
        if self.terminal:
            sys.stdout.write(f"\r\033[K    {self.count:3}  {text[:60]}")
        elif time.monotonic() - self.shown_at > 10:
            self.shown_at = time.monotonic()
            sys.stdout.write(f"    {self.count:3}  {text}\n")
        sys.stdout.flush()

    def end(self) -> None:
        if self.terminal:
            sys.stdout.write("\r\033[K")


def run(commands: list, arguments: list) -> int:
    """Become the command, so that signals reach it; several are run in turn, all of them even if one fails."""
    if len(commands) == 1:
        command = [str(VENV_PYTHON), *commands[0], *arguments]
        os.execv(command[0], command)  # noqa: S606
    return max(call([VENV_PYTHON, *command]) for command in commands)


def clean() -> int:
    for name in LEFTOVERS:
        shutil.rmtree(str(ROOT / name), ignore_errors=True)
    for cache in list(ROOT.rglob("__pycache__")):
        shutil.rmtree(str(cache), ignore_errors=True)
    return 0


def version() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def call(command: list, **options: object) -> int:
    return subprocess.run([str(part) for part in command], check=False, **options).returncode  # noqa: S603


def check(command: list, message: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        sys.stderr.write(done.stdout)
        fail(message)


def say(text: str) -> None:
    sys.stdout.write(f"  {text}\n")
    sys.stdout.flush()


def fail(text: str) -> None:
    sys.stderr.write(f"make: {text}\n")
    sys.exit(2)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
