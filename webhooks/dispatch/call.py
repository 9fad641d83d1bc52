"""One call to one endpoint: a POST, once, within its time, to an address that may be connected to."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

import requests
from urllib3.exceptions import HTTPError

from notifications.providers.retry_after import parse_retry_after
from notifications.providers.session import CONNECT_TIMEOUT_SECONDS, anywhere, bounded, new_session
from notifications.providers.trouble import network_verdict
from webhooks import egress
from webhooks.outcome import GONE, Reply
from webhooks.schedule import RETRY_AFTER_MOST_SECONDS

EXCERPT_BYTES = 1024
_TROUBLE = (requests.RequestException, HTTPError, OSError, ValueError)
_HEADERS = {"Content-Type": "application/json", "Accept": "*/*"}


class EndpointCaller:
    """Calls endpoints from many threads, each with a session of its own.

    Args:
        timeout_seconds: bound on everything from name resolution to the last byte that is read.
        allow_private: any address will do, and `http://` too.
        certificates: True for the usual authorities, or the path of a bundle.
    """

    def __init__(self, *, timeout_seconds: float, allow_private: bool, certificates: bool | str = True) -> None:
        self.timeout_seconds = timeout_seconds
        self._allow_private = allow_private
        self._certificates = certificates
        self._local = threading.local()

    def call(self, url: str, body: str, headers: Mapping[str, str]) -> Reply:
        """POST the body. Trouble on the network is a reply too, never an exception."""
        try:
            # Again: it may have been stored when more was allowed.
            egress.check_url(url, allow_private=self._allow_private)
        except egress.Refused:
            return Reply(None, "url_refused")
        with bounded(self.timeout_seconds) as deadline:
            try:
                return self._exchange(url, body, headers)
            except _TROUBLE as error:
                return Reply(None, "timeout" if deadline.fired else network_verdict(error).error_code)

    def _exchange(self, url: str, body: str, headers: Mapping[str, str]) -> Reply:
        session = self._session()
        request = requests.Request("POST", url, data=body.encode(), headers={**_HEADERS, **headers})
        timeouts = (min(CONNECT_TIMEOUT_SECONDS, self.timeout_seconds), self.timeout_seconds)
        with session.send(
            session.prepare_request(request),
            stream=True,
            timeout=timeouts,
            allow_redirects=False,
            verify=self._certificates,
        ) as response:
            return _reply(response)

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            permitted = anywhere if self._allow_private else egress.is_public
            session = self._local.session = new_session(permitted)
        return session


def _reply(response: requests.Response) -> Reply:
    status = response.status_code
    excerpt = _excerpt(response)
    if 200 <= status < 300:
        return Reply(status, "", excerpt)
    wait = parse_retry_after(
        response.headers.get("Retry-After"),
        answered_at=response.headers.get("Date"),
        now=datetime.now(UTC),
        most_seconds=RETRY_AFTER_MOST_SECONDS,
    )
    return Reply(status, _code(status), excerpt, wait)


def _code(status: int) -> str:
    if 300 <= status < 400:
        return "redirected"
    return "gone" if status == GONE else f"http_{status}"


def _excerpt(response: requests.Response) -> str:
    """The beginning of the body, for people. The status says all that counts: what ends it early is no matter."""
    body = bytearray()
    with suppress(*_TROUBLE):
        for piece in response.raw.stream(EXCERPT_BYTES, decode_content=False):
            body += piece
            if len(body) >= EXCERPT_BYTES:
                break
    return bytes(body[:EXCERPT_BYTES]).decode("utf-8", "replace").replace("\x00", "\ufffd")
