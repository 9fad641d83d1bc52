"""The demo client and the operator's login. Both are kept, so that a second start shows what the first one did."""

from __future__ import annotations

import io
import json
import secrets
from pathlib import Path

from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from notifyq.embedded.home import kept_secret, write_private

OPERATOR = "operator"
CLIENT = "demo"


def provide_operator(data_dir: Path) -> str:
    """Make sure that a superuser `operator` can log in; return the password (file `operator_password`, mode 600).

    A password that somebody changed on the site stays changed: then an empty text is returned.
    """
    file = data_dir / "operator_password"
    users = get_user_model()
    user = users.objects.filter(username=OPERATOR).first()
    if user is None:
        password = kept_secret(file, lambda: secrets.token_urlsafe(12))
        users.objects.create_superuser(username=OPERATOR, email="", password=password)
        return password
    password = file.read_text() if file.is_file() else ""
    return password if password and user.check_password(password) else ""


def kept_api_key(data_dir: Path) -> str:
    """The demo client's API key from the last start, or an empty text."""
    file = _key_file(data_dir)
    return file.read_text() if file.is_file() else ""


def create_demo_client(data_dir: Path) -> str:
    """Create a demo client and return its API key, which is kept in `demo_api_key` (mode 600)."""
    try:
        key = _create(CLIENT)
    except CommandError:  # the name is taken, and only a hash of the key that was lost is known
        key = _create(f"{CLIENT}-{secrets.token_hex(3)}")
    write_private(_key_file(data_dir), key)
    return key


def _create(name: str) -> str:
    printed = io.StringIO()
    call_command("create_client", name, "--scope", "send", "--scope", "read", stdout=printed)
    return str(json.loads(printed.getvalue())["apiKey"])


def _key_file(data_dir: Path) -> Path:
    return data_dir / "demo_api_key"
