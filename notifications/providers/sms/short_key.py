"""A notification's id in the 20 characters that BulkSMS gives a sender's own id. Pure.

The 128 bits as a number in base 85. The digits are the printable ASCII characters without those that mean something in
a JSON string, in a URL's query or in a filter of BulkSMS (`name=value&name<value`), so that no layer that forgets to
escape, or unescapes twice, can change a key.
"""

from __future__ import annotations

from uuid import UUID

LENGTH = 20
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$()*,-./:;?@[]^_`{|}~"
_VALUES = {character: value for value, character in enumerate(ALPHABET)}
_BASE = len(ALPHABET)


def encode(key: UUID) -> str:
    """Always 20 characters; different ids have different ones, in the same order as the ids."""
    number, digits = key.int, []
    for _ in range(LENGTH):
        number, digit = divmod(number, _BASE)
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


def decode(text: str) -> UUID:
    """The id that `encode` made this of.

    Raises:
        ValueError: it made none such. The message does not repeat the text, which comes from outside.
    """
    if len(text) != LENGTH or not set(text) <= _VALUES.keys():
        raise ValueError("not a short key")
    number = 0
    for character in text:
        number = number * _BASE + _VALUES[character]
    if number >> 128:
        raise ValueError("not a short key")
    return UUID(int=number)
