"""What is typed into a search box, as it stands in the address of a page: sealed.

Addresses end up in the browser's history, in the logs of proxies and in chats, and what is looked for is mostly
somebody's address. So a search is sent by POST, and answered with a redirect to an address that holds it encrypted.
Every login of this installation can follow such an address; nobody else can read it. An id stays as it is: it says
nothing of a person.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import QueryDict

from notifyq import secrets

PRIVATE = ("q", "recipient")
"""The parameters that hold such texts, on whatever page."""
SENT = "_search"
"""A form that has this field is a search, and changes nothing."""
MARK = "sealed."
TEXT_BYTES_MOST = 1_500
"""More would make an address that servers refuse, and is nobody's address."""
UNREADABLE = "cannot be read any more: the link is broken, or older than the present keys. Please type it again."
_PURPOSE = b"notifyq console search v1"
_NOT_IN_ADDRESS = (SENT, "csrfmiddlewaretoken", "confirmation", "reason", "rate")
"""The last three go with the button that acts, in whose form the fields of a filter can stand."""


class Unopened(Exception):
    """It is not what `seal` made, or was made with a key that is gone."""


def seal(text: str) -> str:
    """As it may stand in an address; ids, and what is sealed already, are left as they are."""
    text = text.strip().replace("\0", "\ufffd")  # which PostgreSQL holds nowhere
    if not text or _may_stand(text):
        return text
    cut = text.encode()[:TEXT_BYTES_MOST].decode(errors="ignore")
    return MARK + secrets.encrypt(cut, purpose=_PURPOSE).rstrip("=")


def opened(text: str) -> str:
    """What was typed.

    Raises:
        Unopened: nobody can tell any more.
    """
    if not text.startswith(MARK):
        return text
    token = text.removeprefix(MARK)
    try:
        return secrets.decrypt(token + "=" * (-len(token) % 4), purpose=_PURPOSE)
    except (secrets.Unreadable, ValueError):
        raise Unopened("no present key opens this search") from None


def is_open(given: QueryDict) -> bool:
    """Whether an address tells what was typed, as one that was made by hand does."""
    return any(text.strip() and not _may_stand(text.strip()) for name in PRIVATE for text in given.getlist(name))


def address(path: str, given: QueryDict) -> str:
    """The address of what a form, or an older address, asks for."""
    query = QueryDict(mutable=True)
    for name, texts in given.lists():
        if name not in _NOT_IN_ADDRESS:
            query.setlist(name, [seal(text) for text in texts] if name in PRIVATE else texts)
    return f"{path}?{_without_empty(query)}".rstrip("?")


def _without_empty(query: QueryDict) -> str:
    kept: Any = QueryDict(mutable=True)
    for name, texts in query.lists():
        kept.setlist(name, [text for text in texts if text])
    return str(kept.urlencode())


def _may_stand(text: str) -> bool:
    if text.startswith(MARK):
        return True
    try:
        UUID(text)
    except ValueError:
        return False
    return True
