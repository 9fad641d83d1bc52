"""What may be shown of a sentence that a vendor wrote: nothing that names a person, nothing of the message, no secret.

Vendors repeat what they were sent: the recipient, half the body, the key. So every word is hidden that is an address, a
number or a key by its form, or that stands in what was sent; but for words that say nothing about anybody and that
vendors explain themselves with. When in doubt, a word is hidden: the error's code says the rest. Pure.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from notifications.providers.plain_words import PLAIN_WORDS

HIDDEN = "[hidden]"
LENGTH_MOST = 200
READ_MOST = 2000
"""How much of a text is looked at; the rest would not be shown anyhow."""
QUOTE_WORDS = 5
"""So many words in a row that also stand so in the message are a quotation of it, however plain each is."""

_ESCAPED_BREAK = re.compile(r"\\[nrtbf]")
_ADDRESS = re.compile(r"@|://|^\W*www\.|%[0-9a-f]{2}", re.IGNORECASE)
_NUMBER = re.compile(r"[\w+(]*\d(?:[\s().\-/]{0,3}\d){5,}\w*")
_SECRETS = "api[ _-]?key|token|password|passwd|secret|bearer|basic|authorization|credentials?"
_LABELLED = re.compile(rf"((?:{_SECRETS})\W{{0,3}}[:=]\s*)\S+", re.IGNORECASE)
_RUN = re.compile(r"[A-Za-z0-9+/_=~\-]{16,}")
# What may be so long without being a key: words in lower or upper case or in CamelCase, with what joins them.
_WORDS = re.compile(r"[a-z]{1,20}(?:[_\-/][a-z]{1,20})*|(?:[A-Z][a-z]{1,14}){1,6}|[A-Z]{1,20}(?:_[A-Z]{1,20})*")
_TOKEN = re.compile(r"[^\W_]+")
_AROUND = ".,:;!?()[]{}<>\"'`*="
_BETWEEN_MAILBOXES = re.compile(r"[\s<>\"',;:()]+")
_REPEATED = re.compile(r"\[hidden\](?:\W*\[hidden\])+")


def shown(text: str, private: Iterable[str]) -> str:
    """One printable line of at most `LENGTH_MOST` characters; empty where nothing is left that tells anything.

    Args:
        private: what was sent to the vendor, each value by itself.
    """
    # Of an address the whole word goes: what is left of half of one may still name somebody.
    line = " ".join(HIDDEN if _ADDRESS.search(word) else word for word in _one_line(text).split())
    for pattern, instead in ((_LABELLED, rf"\1{HIDDEN}"), (_RUN, _without_key), (_NUMBER, HIDDEN)):
        line = pattern.sub(instead, line)
    words = line.split()
    hidden = set(Private.of(private).found_in(words))
    line = " ".join(HIDDEN if place in hidden else word for place, word in enumerate(words))
    line = _shortened(_REPEATED.sub(HIDDEN, line))
    return line if re.search(r"[^\W\d_]{2}", line.replace(HIDDEN, "")) else ""


@dataclass(frozen=True, slots=True)
class Private:
    """What was sent, in the forms in which a vendor might repeat it.

    Attributes:
        text: everything, folded.
        flat: all words of it in their order.
        tokens: the same without an order.
        names: what stands before an @ by itself, hidden however plain a word it is.
    """

    text: str
    flat: str
    tokens: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Private:
        text = "\n".join(_folded(each) for each in texts)
        in_order = _TOKEN.findall(text)
        locals_ = {piece.partition("@")[0] for piece in _BETWEEN_MAILBOXES.split(text) if "@" in piece}
        names = {local for local in locals_ if len(local) >= 2 and _TOKEN.fullmatch(local)}
        return cls(text, f" {' '.join(in_order)} ", frozenset(in_order), frozenset(names))

    def found_in(self, words: list[str]) -> Iterator[int]:
        """The places of the words that may not be shown."""
        tokens = [(place, token) for place, word in enumerate(words) for token in _TOKEN.findall(_folded(word))]
        yield from (place for place, word in enumerate(words) if self._has_whole(word))
        yield from (place for place, token in tokens if self._has(token))
        for start in range(len(tokens) - QUOTE_WORDS + 1):
            window = tokens[start : start + QUOTE_WORDS]
            if f" {' '.join(token for _, token in window)} " in self.flat:
                yield from (place for place, _ in window)

    def _has_whole(self, word: str) -> bool:
        """A word with something within that is no letter, such as a key: its parts may be plain."""
        core = _folded(word).strip(_AROUND)
        return len(core) >= 4 and not core.isalpha() and core in self.text

    def _has(self, token: str) -> bool:
        if token in self.names:
            return True
        if any(c.isdigit() for c in token):
            # An identifier by its form, or a number of the message's.
            is_part = len(token) >= 4 and token in self.text  # such as the last digits of a number
            return is_part or len(token) >= 8 or (len(token) >= 2 and token in self.tokens)
        if token in PLAIN_WORDS or len(token) < 3:
            return False
        return token in self.tokens or (len(token) >= 4 and token in self.text)


def _one_line(text: str) -> str:
    """Printable, and without escapes that would keep a word from being known again."""
    # A word that is cut in the middle might not be known again either.
    cut = text if len(text) <= READ_MOST else text[:READ_MOST].rpartition(" ")[0]
    plain = unicodedata.normalize("NFKC", html.unescape(_ESCAPED_BREAK.sub(" ", cut)))
    return " ".join("".join(c if c.isprintable() else " " for c in plain).split())


def _without_key(run: re.Match[str]) -> str:
    return run[0] if _WORDS.fullmatch(run[0]) else HIDDEN


def _shortened(line: str) -> str:
    return line if len(line) <= LENGTH_MOST else line[: LENGTH_MOST - 1].rpartition(" ")[0] + " …"


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
