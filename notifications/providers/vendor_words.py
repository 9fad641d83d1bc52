"""The sentence in a vendor's refusal: found wherever vendors put it, and shown without what is private. Pure.

It tells an operator whether the key is wrong or the credit used up, which a status alone does not. It goes into the
record of an attempt and never into a log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from notifications.providers.redaction import READ_MOST, shown

_SENTENCES_MOST = 3
_ITEMS_MOST = 3
_DEPTH_MOST = 4
# In this order, since the first ones say most; by name in lower case.
_TELLING = (
    *("errors", "error", "message", "msg", "error_description", "error_message", "errormessage", "title", "detail"),
    *("description", "reason", "field", "status"),
)


def sentence(document: Any, body: bytes, sent: object) -> str:
    """What the vendor says, in at most 200 characters; empty where it says nothing that can be shown.

    Args:
        document: the decoded body; None where it is not JSON.
        body: as it came.
        sent: what was sent: texts, bytes, mappings and lists of them. Nothing of it is shown.
    """
    said = _plain_text(body) if document is None else _told_by(document)
    return shown(said, _texts(sent)) if said else ""


def url_texts(url: str) -> list[str]:
    """What of an address may be about somebody: its query, and the steps of its path that are no mere words."""
    parts = urlsplit(url)
    steps = [unquote(step) for step in parts.path.split("/")]
    return [step for step in steps if not step.isalpha()] + [value for _, value in parse_qsl(parts.query)]


def _told_by(document: Any) -> str:
    found = islice(dict.fromkeys(text for text in _strings(document, 0) if text), _SENTENCES_MOST)
    return "; ".join(text[:READ_MOST] for text in found)


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif depth > _DEPTH_MOST:
        return
    elif isinstance(value, list):
        for item in value[:_ITEMS_MOST]:
            yield from _strings(item, depth + 1)
    elif isinstance(value, dict):
        by_name = {name.lower(): inner for name, inner in value.items()}
        for name in _TELLING:
            yield from _strings(by_name.get(name), depth + 1)


def _plain_text(body: bytes) -> str:
    """A body that is text: no markup, and no JSON that could not be read."""
    if b"<" in body or body.strip() == b"null" or body.lstrip()[:1] in (b"{", b"[", b'"'):
        return ""
    try:
        # A character that the cut parts is none of the text's fault.
        return body[: 4 * READ_MOST].decode("utf-8", "strict" if len(body) <= 4 * READ_MOST else "ignore").strip()
    except UnicodeDecodeError:
        return ""


def _texts(sent: object) -> Iterator[str]:
    if isinstance(sent, str):
        yield sent
    elif isinstance(sent, bytes):
        yield from _texts(_decoded(sent))
    elif isinstance(sent, Mapping):
        for inner in sent.values():
            yield from _texts(inner)
    elif isinstance(sent, Sequence):
        for inner in sent:
            yield from _texts(inner)
    elif sent is not None and not isinstance(sent, bool):
        yield str(sent)


def _decoded(sent: bytes) -> object:
    try:
        return json.loads(sent)
    except (ValueError, RecursionError):
        return sent.decode("utf-8", "replace")
