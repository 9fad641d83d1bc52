"""Bodies that are not quite JSON: a 400 that names the field, never more."""

import io

import pytest

from notifyq.rest.parser import StrictJsonParser, loads
from notifyq.rest.problem import Problem


def refused(raw: bytes) -> Problem:
    with pytest.raises(Problem) as caught:
        loads(raw)
    assert caught.value.status == 400
    return caught.value


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"{",
        b"{}x",
        b"nul",
        b"[]",
        b"null",
        b"1",
        b'"text"',
        b"\xef\xbb\xbf{}",
        b'{"a": "\xff"}',
        b'{"a": "\xed\xa0\x80"}',
        "{}".encode("utf-16"),
        b"{'a': 1}",
        b'{"a": 01}',
        b'{"a": "line\nbreak"}',
        b'{"a":' * 100_000,
        b"[" * 100_000,
    ],
)
def test_loads__not_a_json_object__is_refused(raw):
    assert refused(raw).errors == []


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b'{"delaySeconds": NaN}', "delaySeconds"),
        (b'{"delaySeconds": -Infinity}', "delaySeconds"),
        (b'{"data": {"a": [Infinity]}}', "data"),
        (b'{"body": "a\\u0000b"}', "body"),
        (b'{"data": {"a\\u0000": "b"}}', "data"),
        (b'{"metadata": {"a": "\\udc00"}}', "metadata"),
        (b'{"body": "\\ud83d"}', "body"),
        (b'{"a\\u0000b": 1}', "a?b"),
        (b'{"\\ud800": 1}', "?"),
        (b'{"body": "1", "body": "2"}', "body"),
        (b'{"metadata": {"a": "1", "a": "1"}}', "a"),
        (b'{"data": ' + b"[" * 40 + b"]" * 40 + b"}", "data"),
    ],
)
def test_loads__fault_in_a_field__names_it(raw, field):
    assert [e["field"] for e in refused(raw).errors] == [field]


def test_loads__text_in_an_error__is_not_repeated():
    assert "secret" not in refused(b'{"body": "secret').detail


@pytest.mark.parametrize("digits", [b"9" * 10_000, b"-" + b"9" * 10_000, b"1e999", b"9" * 399])
def test_loads__huge_number__is_read_for_the_field_to_refuse(digits):
    value = loads(b'{"maxAttempts": ' + digits + b"}")["maxAttempts"]

    assert abs(value) > 1e300


def test_loads__whole_pair_of_surrogates__is_one_character():
    assert loads(b'{"body": "\\ud83d\\ude00"}') == {"body": "😀"}


@pytest.mark.parametrize(("size", "accepted"), [(1 << 20, True), ((1 << 20) + 1, False)])
def test_parser__body_at_its_limit__is_accepted_and_beyond_is_413(size, accepted):
    raw = b'{"a": "' + b"x" * (size - 9) + b'"}'
    assert len(raw) == size

    if accepted:
        assert StrictJsonParser().parse(io.BytesIO(raw))
        return
    with pytest.raises(Problem) as caught:
        StrictJsonParser().parse(io.BytesIO(raw))
    assert caught.value.status == 413
