import json
import time

import pytest

from notifications.providers.http import Answer, proof


def answer(body):
    return Answer(200, {}, body)


@pytest.mark.parametrize("body", [b"[" * 65 + b"]" * 65, b'{"a":' * 65 + b"1" + b"}" * 65, b"[" * 100_000])
def test_answer__nested_too_deep__is_no_document(body):
    assert answer(body).json() is None


@pytest.mark.parametrize(
    "document", [["[" * 200], {"a": '\\"[[' * 100}, [[]] * 500, {"id": "m-1", "parts": [{"n": 1}]}]
)
def test_answer__brackets_in_strings_or_side_by_side__is_read(document):
    assert answer(json.dumps(document).encode()).json() == document


@pytest.mark.parametrize(
    "body", [b'"' + b'\\"' * 120_000, b'"' * 250_001, b"\\" * 250_000, b'{"a": "' + b"\\" * 249_999]
)
def test_answer__string_without_an_end__is_given_up_quickly(body):
    began = time.process_time()

    assert answer(body).json() is None
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("m-1", "m-1"),
        ("a" * 255, "a" * 255),
        ("a" * 256, ""),
        ("", ""),
        ("  ", ""),
        (7, ""),
        (None, ""),
        ("a\x00", ""),
        ("é", ""),
    ],
)
def test_proof__only_what_can_be_an_id__counts(value, expected):
    assert proof(value) == expected
