"""DATABASE_URL: what is wrong with it by itself is said at the start; a server that is only away is waited for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import environ
from psycopg import pq

from notifications.errors import ConfigurationError
from notifyq.env import Environment

_NAME_BYTES_MOST = 63  # PostgreSQL's bound on the name of anything
_NUMBERS = ("connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout")
# Not libpq's, but understood by Django or psycopg.
_OPTIONS_OF_OURS = frozenset({"assume_role", "isolation_level", "prepare_threshold", "server_side_binding"})
_ISOLATION_LEVELS = range(1, 5)  # those of `psycopg.IsolationLevel`
_GSS = ("disable", "prefer", "require")
_NOWHERE = "/nowhere-notifyq"
# Where and as whom libpq is made to look for a server that is not there, whatever PG… variables or a service say. GSS
# encryption cannot be had through a socket.
_TRIAL = {
    "host": _NOWHERE,
    "hostaddr": "",
    "port": "5432",
    "dbname": "none",
    "user": "none",
    "password": "",
    "gssencmode": "disable",
}
_PORT = re.compile("[0-9]{1,5}")


def database_url(default: str | None = None) -> str:
    """DATABASE_URL.

    Raises:
        ConfigurationError: it is missing without a default, names another database than PostgreSQL, or can never
            lead to one. No part of it that may hold a password is repeated.
    """
    url = Environment(prefix="").text("DATABASE_URL", default).strip()
    if "postgresql" not in environ.Env.DB_SCHEMES.get(url.partition(":")[0], ""):
        raise ConfigurationError("DATABASE_URL must start with postgres://: PostgreSQL 15 or later is the queue")
    _parsed(url)
    return url


def database_config(default: str) -> dict[str, Any]:
    """DATABASE_URL as Django wants it.

    Raises:
        ConfigurationError: see `database_url`.
    """
    config = _parsed(database_url(default))
    options = config.get("OPTIONS", {})
    if not config["HOST"] and "host" in options:  # a directory of sockets: `dbshell` looks for it here alone
        config |= {"HOST": options.pop("host"), "PORT": str(options.pop("port", config["PORT"]))}
    return config


def _parsed(url: str) -> dict[str, Any]:
    try:
        config: dict[str, Any] = environ.Env.db_url_config(url) if url.isprintable() else {}
    except ValueError:
        config = {}
    if not config or not _has_usable_place(url, config):
        raise ConfigurationError(
            "DATABASE_URL must be postgres://user:password@host:port/name with a port from 1 to 65535 "
            "(percent-encode special characters in the password)"
        )
    options = config.get("OPTIONS", {})
    _check_name(str(config["NAME"]), options)
    _check_options(options)
    return config


def _has_usable_place(url: str, config: Mapping[str, Any]) -> bool:
    if any("\0" in str(config[part]) for part in ("NAME", "USER", "PASSWORD", "HOST")):
        return False
    authority = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    ports = [port for port in str(config["PORT"]).split(",") if port]
    if re.search(":0+(,|$)", authority) or not all(_is_port(port) for port in ports):
        return False
    hosts = str(config["HOST"]).split(",")
    # Of several hosts, one with a colon that is no IPv6 address had a port that is no number.
    return len(hosts) == 1 or not any(":" in host and not host.startswith("[") for host in hosts)


def _is_port(text: str) -> bool:
    return bool(_PORT.fullmatch(text)) and 0 < int(text) <= 65535


def _check_name(name: str, options: Mapping[str, Any]) -> None:
    if not name and not options.get("service") and not options.get("dbname"):
        raise ConfigurationError("DATABASE_URL must end with the name of the database, as postgres://host/name")
    if len(name.encode()) > _NAME_BYTES_MOST:
        raise ConfigurationError(f"DATABASE_URL must name a database of at most {_NAME_BYTES_MOST} characters")


def _check_options(options: Mapping[str, Any]) -> None:
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    for name, value in options.items():
        if name not in known | _OPTIONS_OF_OURS:
            raise ConfigurationError(f"DATABASE_URL has the option {name!r}, which PostgreSQL's client does not know")
        if name in _NUMBERS and not isinstance(value, int):
            raise ConfigurationError(f"DATABASE_URL must have a whole number as its option {name}")
        if name == "port" and not _is_port(str(value)):
            raise ConfigurationError("DATABASE_URL must have a number from 1 to 65535 as its option port")
    if options.get("isolation_level", 2) not in _ISOLATION_LEVELS:
        raise ConfigurationError("DATABASE_URL must have a number from 1 to 4 as its option isolation_level")
    if not isinstance(options.get("prepare_threshold", 0), int):
        raise ConfigurationError("DATABASE_URL must have a whole number as its option prepare_threshold")
    if options.get("gssencmode", "prefer") not in _GSS:
        raise ConfigurationError(f"DATABASE_URL must have one of {', '.join(_GSS)} as its option gssencmode")
    _try_options({name: str(value) for name, value in options.items() if name in known})


def _try_options(options: Mapping[str, str]) -> None:
    """Let libpq judge the values. It does so before it connects, here to a socket that is not there: only a message
    that tells of that socket means that it found nothing else to say. Nothing goes over the network."""
    conninfo = " ".join(f"{name}={_quoted(value)}" for name, value in {**options, **_TRIAL}.items())
    connection = pq.PGconn.connect_start(conninfo.encode())
    said = connection.error_message.decode(errors="replace").strip()
    connection.finish()
    if said and _NOWHERE not in said:
        raise ConfigurationError(f"DATABASE_URL has options that PostgreSQL's client refuses: {said}")


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
