"""A notification's id in twenty characters, and back."""

import json
from urllib.parse import parse_qsl, quote
from uuid import UUID, uuid4

import pytest

from notifications.providers.sms.short_key import ALPHABET, LENGTH, decode, encode
from notifyq.runtime.ids import uuid7

LEAST, MOST = UUID(int=0), UUID(int=2**128 - 1)
SOME = [LEAST, MOST, UUID(int=1), UUID(int=85**19), UUID(int=2**64), *(uuid4() for _ in range(50)), uuid7()]


@pytest.mark.parametrize("key", SOME, ids=lambda _: "")
def test_encode__any_id__is_twenty_characters_that_give_it_back(key):
    assert len(encode(key)) == LENGTH == 20
    assert decode(encode(key)) == key


def test_encode__known_id__never_changes():
    assert encode(UUID("01890a5d-ac96-774b-bcce-b302099a8057")) == "0c3h[G(E98u(E(FD,EZA"


def test_alphabet__in_json_and_in_a_filter__means_nothing_special():
    assert len(set(ALPHABET)) == len(ALPHABET) == 85
    assert not set("\"'\\&=<>+% ") & set(ALPHABET)
    assert json.dumps(ALPHABET) == f'"{ALPHABET}"'
    assert parse_qsl(f"filter=userSuppliedId%3D{quote(ALPHABET, safe='')}") == [
        ("filter", f"userSuppliedId={ALPHABET}")
    ]


@pytest.mark.parametrize("text", ["", "x" * 19, "x" * 21, "~" * 20, "x" * 19 + "=", "x" * 19 + "é", "x" * 19 + "\0"])
def test_decode__what_was_never_encoded__is_refused_without_repeating_it(text):
    with pytest.raises(ValueError, match=r"^not a short key$"):
        decode(text)
