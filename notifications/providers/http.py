"""The base of all adapters that speak HTTP: one request, once, within its time; then an answer, or a verdict.

The rule behind it: whatever is neither the vendor's proof nor a certain refusal is UNCONFIRMED.
"""

from __future__ import annotations

import json
import re
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import requests
from requests.exceptions import InvalidHeader, InvalidSchema, InvalidURL, MissingSchema
from urllib3.exceptions import HTTPError

from notifications.providers.base import Capabilities, Provider
from notifications.providers.deadline import Deadline
from notifications.providers.retry_after import parse_retry_after
from notifications.providers.session import CONNECT_TIMEOUT_SECONDS, bounded, new_session
from notifications.providers.trouble import network_verdict, read_timeout
from notifications.providers.vendor_words import sentence, url_texts
from notifications.verdict import Verdict

MAX_ANSWER_BYTES = 256 * 1024
_ID_MAX_LENGTH = 255
_MAX_DEPTH = 64
# A bracket, or a whole string, which may hold brackets; one that never ends is taken to the end, to stay linear.
_TOKENS = re.compile(r'[\[\]{}]|"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_THROTTLED = frozenset({408, 425, 429})
# In each of them the server says that it did not do what was asked, and not because of this message: the credentials,
# the address, the method, the form of the request. Source: RFC 9110 section 15.5.
_ACCOUNT_REFUSED = frozenset({401, 403, 404, 405, 411, 415})


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer of at most `MAX_ANSWER_BYTES`. Nothing in it is to be trusted.

    Attributes:
        headers: names in lower case.
        retry_after_seconds: 0 to 3600, or None.
        url, sent: what it answers, the latter as texts and collections of them; nothing of that is repeated.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    retry_after_seconds: float | None = None
    url: str = field(default="", repr=False)
    sent: object = field(default=(), repr=False)

    def json(self) -> Any:
        """The decoded body, or None where it is not JSON in UTF-8, or nested more than 64 deep."""
        try:
            text = self.body.decode("utf-8-sig")
            return None if _too_deep(text) else json.loads(text)
        except (ValueError, RecursionError):
            return None

    def fields(self) -> Mapping[str, Any]:
        """The decoded body where it is a JSON object, else an empty one."""
        document = self.json()
        return document if isinstance(document, dict) else {}

    def telling(self, text: str) -> str:
        """A text of ours for the record of the attempt, with the vendor's own sentence behind it where it has one.

        What in that is private is hidden. Not for logs all the same.
        """
        said = sentence(self.json(), self.body, [url_texts(self.url), self.sent])
        return f'{text}; it says "{said}"' if said else text


def proof(value: object) -> str:
    """`value` where it can be a vendor's message id (1 to 255 printable ASCII characters), else nothing."""
    if not isinstance(value, str) or not value.isascii() or not value.isprintable():
        return ""
    return value if value.strip() and len(value) <= _ID_MAX_LENGTH else ""


class HttpProvider(Provider):
    """Each thread has a session, and so connections, of its own.

    Attributes:
        certificates: True for the usual authorities, or the path of a bundle.
    """

    certificates: bool | str = True

    def __init__(self, name: str, capabilities: Capabilities) -> None:
        super().__init__(name, capabilities)
        self._local = threading.local()
        self._sessions: weakref.WeakSet[requests.Session] = weakref.WeakSet()
        self._sessions_lock = threading.Lock()

    def post(
        self,
        url: str,
        *,
        timeout_seconds: float,
        json: Any = None,
        data: Mapping[str, str] | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
    ) -> Answer | Verdict:
        """Make one POST.

        Args:
            timeout_seconds: bound on everything from name resolution to the last byte of the answer.
            json, data: the body; `data` as a mapping goes out as a form.
            auth: user name and password, for Basic.

        Returns:
            The answer, whatever its status, or the verdict on what went wrong on the way.
        """
        return self.call("POST", url, timeout_seconds=timeout_seconds, json=json, data=data, headers=headers, auth=auth)

    def call(self, method: str, url: str, *, timeout_seconds: float, **content: Any) -> Answer | Verdict:
        """Make one request of any method; `content` is what `post` takes."""
        session = self._session()
        try:
            prepared = session.prepare_request(requests.Request(method, url, **content))
        except (InvalidURL, MissingSchema, InvalidSchema):
            return Verdict.temporary("invalid_url", "the address is not a URL")
        except (InvalidHeader, UnicodeError):
            return _invalid_header()
        if not all(str(value).isascii() for value in prepared.headers.values()):
            return _invalid_header()
        try:
            with bounded(timeout_seconds) as deadline:
                answer = self._exchange(session, prepared, timeout_seconds, deadline)
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            return read_timeout() if deadline.fired else network_verdict(error)
        return answer if isinstance(answer, Verdict) else replace(answer, url=url, sent=content)

    def close(self) -> None:
        with self._sessions_lock:
            sessions = list(self._sessions)
        for session in sessions:
            session.close()

    def _exchange(
        self, session: requests.Session, prepared: requests.PreparedRequest, timeout_seconds: float, deadline: Deadline
    ) -> Answer | Verdict:
        timeouts = (min(CONNECT_TIMEOUT_SECONDS, timeout_seconds), timeout_seconds)
        with session.send(
            prepared, stream=True, timeout=timeouts, allow_redirects=False, verify=self.certificates
        ) as response:
            body = _read(response)
            if deadline.fired:
                # The end of a body without a length looks complete when it was the watchdog that ended it.
                return read_timeout()
            if body is None:
                return Verdict.unconfirmed("answer_too_large", f"the answer has more than {MAX_ANSWER_BYTES} bytes")
            return _answer(response, body)

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = new_session()
            with self._sessions_lock:
                self._sessions.add(session)
        return session


def status_verdict(answer: Answer) -> Verdict:
    """What a status alone says, for an answer in which the adapter recognised neither proof nor a vendor's code."""
    code, text = f"http_{answer.status}", f"answered {answer.status}"
    if 300 <= answer.status < 400:
        return Verdict.provider_fault("redirected", f"{text}: the configured address is not the right one")
    text = answer.telling(text) if answer.status >= 400 else text
    if answer.status in _ACCOUNT_REFUSED:
        return Verdict.provider_fault(code, text)
    if answer.status in _THROTTLED:
        return Verdict.temporary(
            "throttled" if answer.status == 429 else code,
            text,
            retry_after_seconds=answer.retry_after_seconds,
            throttled=True,
        )
    if answer.status >= 500:
        return Verdict.unconfirmed(code, text, retry_after_seconds=answer.retry_after_seconds)
    return Verdict.unconfirmed("no_proof", f"nothing proves acceptance or refusal: {text}")


def _too_deep(text: str) -> bool:
    """Asked before parsing: a parser that runs into the recursion limit is caught, but what the garbage collector
    happens to run down there fails as well, and nobody catches that.
    """
    depth = 0
    for token in _TOKENS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > _MAX_DEPTH:
            return True
    return False


def _read(response: requests.Response) -> bytes | None:
    """The whole body, or None where it is longer than we read."""
    body = bytearray()
    for piece in response.iter_content(65_536):
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            return None
    return bytes(body)


def _answer(response: requests.Response, body: bytes) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    wait = parse_retry_after(headers.get("retry-after"), answered_at=headers.get("date"), now=datetime.now(UTC))
    return Answer(response.status_code, headers, body, wait)


def _invalid_header() -> Verdict:
    # Only settings reach a header besides the key, so it is the account's configuration that is wrong.
    return Verdict.provider_fault("invalid_header", "a configured value cannot be sent in an HTTP header")
