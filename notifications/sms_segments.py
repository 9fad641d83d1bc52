"""How many text messages a text takes, and in which alphabet. Pure.

One text message carries 140 bytes: 160 characters of the GSM alphabet in 7 bits each, or 70 units of UTF-16. A longer
text is cut into segments that are put together again on the phone; each then has a header that costs 7 or 3 of them.

Source: 3GPP TS 23.038 (alphabets) and TS 23.040 §9.2.3.24.1 (concatenation).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_GSM = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿"
    "abcdefghijklmnopqrstuvwxyzäöñüà"
)
_GSM_EXTENSION = frozenset("\f^{}\\[~]|€")
"""Written as an escape and a character: two places."""


class Encoding(StrEnum):
    GSM_7 = "GSM-7"
    UCS_2 = "UCS-2"


_ALONE = {Encoding.GSM_7: 160, Encoding.UCS_2: 70}
_TOGETHER = {Encoding.GSM_7: 153, Encoding.UCS_2: 67}


@dataclass(frozen=True, slots=True)
class Segments:
    """What a text takes.

    Attributes:
        count: how many segments, which is what vendors charge for; at least 1.
        units: its length in places of the encoding (septets, or units of UTF-16).
        per_segment: how many of them a segment of this text holds.
    """

    encoding: Encoding
    count: int
    units: int
    per_segment: int


def count(text: str) -> Segments:
    """Count the segments of a text, as it is: nothing is replaced by what looks alike.

    One character outside the GSM alphabet makes the whole text UCS-2. What takes two places (an extension character,
    a surrogate pair) is never cut in two; a sequence of characters that looks like one (a flag, a family) may be.
    """
    gsm = all(c in _GSM or c in _GSM_EXTENSION for c in text)
    encoding = Encoding.GSM_7 if gsm else Encoding.UCS_2
    sizes = [2 if (c in _GSM_EXTENSION if gsm else ord(c) > 0xFFFF) else 1 for c in text]
    units = sum(sizes)
    if units <= _ALONE[encoding]:
        return Segments(encoding, 1, units, _ALONE[encoding])
    return Segments(encoding, _cut(sizes, _TOGETHER[encoding]), units, _TOGETHER[encoding])


def _cut(sizes: list[int], room: int) -> int:
    segments, free = 1, room
    for size in sizes:
        if size > free:
            segments, free = segments + 1, room
        free -= size
    return segments
