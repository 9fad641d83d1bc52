"""Where vendors put their sentence, and that no body of theirs breaks anything."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notifications.providers.http import Answer, status_verdict
from notifications.providers.vendor_words import sentence, url_texts


def said(document, sent=()):
    return Answer(400, {}, json.dumps(document).encode(), sent=sent).telling("refused").removeprefix("refused")


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"errors": [{"message": "Maximum credits exceeded", "field": None}]}, "Maximum credits exceeded"),
        ({"errors": [{"message": "weird", "field": "zzz"}]}, "weird; zzz"),
        ({"message": "weird", "field": "zzz"}, "weird; zzz"),
        ({"message": "Domain not found"}, "Domain not found"),
        ({"Message": "The security token is invalid"}, "The security token is invalid"),
        ({"code": 20003, "message": "Authenticate", "more_info": "x", "status": 401}, "Authenticate"),
        ({"type": "x#low-balance", "title": "Low balance", "detail": "Top up"}, "Low balance; Top up"),
        ({"error": {"code": 403, "message": "Permission denied", "status": "PERMISSION_DENIED"}},
         "Permission denied; PERMISSION_DENIED"),
        ({"error": "invalid_grant", "error_description": "Invalid signature"}, "invalid_grant; Invalid signature"),
        ({"status": "error", "error_code": "109", "msg": "no credit"}, "no credit; error"),
        ({"errors": ["a wrong thing", "a wrong thing"]}, "a wrong thing"),
        ({"reason": "SomethingNew"}, "SomethingNew"),
        ("not allowed", "not allowed"),
    ],
)  # fmt: skip
def test_sentence__of_each_vendors_form__is_found(document, expected):
    assert said(document) == f'; it says "{expected}"'


@pytest.mark.parametrize(
    "document", [{}, [], {"id": "secret"}, {"errors": [1, None]}, {"message": {"a": "b"}}, None, 7]
)
def test_sentence__nothing_that_tells__leaves_our_own_words(document):
    assert said(document) == ""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"Forbidden", '; it says "Forbidden"'),
        (b"<html><title>Bad Gateway</title></html>", ""),
        (b"\xff\xfe bad", ""),
        (b"[" * 1000 + b"private", ""),
        (b'{"message": "cut of', ""),
        (b"", ""),
        (b"Verboten " + "ü".encode() * 10_000, '; it says "Verboten …"'),
    ],
)
def test_sentence__body_that_is_no_json__is_shown_only_as_text(body, expected):
    assert Answer(403, {}, body).telling("") in (expected, expected.replace(" …", ""))


def test_sentence__what_was_sent__is_hidden_wherever_it_stood():
    sent = [
        url_texts("https://api.example/v1/messages/abc-77?filter=ada"),
        {
            "json": {"to": [{"email": "ada@example.org"}], "n": 4711},
            "data": b'{"text": "lighthouse"}',
            "auth": ("u", "hunter"),
        },
    ]
    text = "refused ada, abc-77, ada@example.org, 4711, lighthouse and hunter"

    assert said({"message": text}, sent) == '; it says "refused [hidden] and [hidden]"'


def test_url_texts__of_an_address__are_its_query_and_no_mere_words():
    assert url_texts("https://h.example/messages/%2B4915/x?a=b%40c&d=") == ["", "+4915", "b@c"]


@settings(max_examples=60, deadline=None)
@given(st.integers(100, 599), st.binary(max_size=300))
def test_verdict__any_body__is_that_of_the_status(status, body):
    told, untold = status_verdict(Answer(status, {}, body)), status_verdict(Answer(status, {}, b""))

    assert (told.outcome, told.error_code) == (untold.outcome, untold.error_code)
    assert told.error_message.startswith(untold.error_message)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["message", "errors", "error", "detail", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(JSON, JSON)
def test_sentence__any_document_and_anything_sent__is_a_bounded_line(document, sent):
    assert len(sentence(document, b"", sent)) <= 200
