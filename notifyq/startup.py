"""What every entry point (manage.py, wsgi.py) does before Django reads its settings."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import environ

from notifications.errors import ConfigurationError
from notifyq.database_setting import database_url

BASE_DIR = Path(__file__).resolve().parent.parent
EMBEDDED_DIR = "NOTIFYQ_EMBEDDED_DIR"
"""Not a setting: tells child processes that the DATABASE_URL they inherit is the embedded server of this directory."""

_WITHOUT_DATABASE = frozenset({"help", "version", "sandbox_provider", "collectstatic"})
_GUNICORN_APP_LOAD_ERROR = 4


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn a `ConfigurationError` into one line on standard error and exit code 2."""
    try:
        yield
    except ConfigurationError as error:
        print(f"notifyq: {error}", file=sys.stderr, flush=True)  # noqa: T201 - logging is not configured yet
        # gunicorn starts a worker that exits with any other code again and again
        sys.exit(_GUNICORN_APP_LOAD_ERROR if "gunicorn.arbiter" in sys.modules else 2)


def provide_environment() -> None:
    """Put DATABASE_URL and SECRET_KEY into the environment if nobody set them, with an embedded PostgreSQL behind.

    Repeatable; child processes that go through an entry point find the same server and count as its users.

    Raises:
        ConfigurationError: the embedded server cannot be started, or the DATABASE_URL is of another kind of database
            or without a SECRET_KEY beside it.
    """
    _read_env_file()
    data_dir = Path(os.environ.get("NOTIFYQ_DATA_DIR") or BASE_DIR / ".data").absolute()
    if _is_set("DATABASE_URL") and not _is_inherited_embedded():
        database_url()
        if not _is_set("SECRET_KEY"):
            raise ConfigurationError("SECRET_KEY is not set; beside a DATABASE_URL it must be a long random text")
        return
    _use_embedded(Path(os.environ.get(EMBEDDED_DIR) or data_dir))


def needs_database(arguments: Sequence[str]) -> bool:
    """Whether the command line (`sys.argv`) asks for anything that works with the database."""
    if len(arguments) < 2 or {"--help", "-h", "--version"} & set(arguments[1:]):
        return False
    return arguments[1] not in _WITHOUT_DATABASE


def exit_on_sigterm() -> None:
    """Make SIGTERM end the process like `sys.exit`, with everything tidied up. A server's own handler stays."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _exit)


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _use_embedded(data_dir: Path) -> None:
    try:
        from notifyq.embedded.binaries import offer_programs
        from notifyq.embedded.home import kept_secret
        from notifyq.embedded.locks import start_lock
        from notifyq.embedded.users import join
    except ModuleNotFoundError as error:
        if error.name not in ("fcntl", "pwd"):
            raise
        raise ConfigurationError("DATABASE_URL is not set; the embedded PostgreSQL needs Linux or macOS") from None
    os.environ["DATABASE_URL"] = join(data_dir)
    offer_programs()
    os.environ[EMBEDDED_DIR] = str(data_dir)
    if not _is_set("SECRET_KEY"):
        with start_lock(data_dir):
            os.environ["SECRET_KEY"] = kept_secret(data_dir / "secret_key")


def _is_inherited_embedded() -> bool:
    if not os.environ.get(EMBEDDED_DIR):
        return False
    from notifyq.embedded.users import url_of

    return url_of(Path(os.environ[EMBEDDED_DIR])) == os.environ.get("DATABASE_URL")


def _is_set(name: str) -> bool:
    return bool(os.environ.get(name) or os.environ.get(f"{name}_FILE"))


def _read_env_file() -> None:
    if (BASE_DIR / ".env").is_file():
        environ.Env.read_env(BASE_DIR / ".env")
