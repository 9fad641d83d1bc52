"""What was typed into a search box, sealed for an address."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from notifyq import secrets
from notifyq.console import sealed

AN_ID = "01a22cbf-5d05-7797-8b38-3cc29ff8d9c8"
TERM = "ada.private@example.org"


@pytest.mark.parametrize("text", [TERM, "+41 79 000 00 00", "Zoë & 東京", "seal it", "a" * 1024, "ä" * 700])
def test_seal__then_opened__is_the_same_and_cannot_be_read(text: str) -> None:
    token = sealed.seal(text)

    assert sealed.opened(token) == text
    assert text not in token
    assert token != sealed.seal(text)
    assert len(token) < 2_300  # a request line may have 4,094 characters
    assert set(token) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def test_seal__twice__is_sealed_once() -> None:
    token = sealed.seal(TERM)

    assert sealed.seal(token) == token


@pytest.mark.parametrize("text", ["", "  ", AN_ID])
def test_seal__nothing_or_an_id__stays_readable(text: str) -> None:
    assert sealed.seal(text) == text.strip()
    assert sealed.opened(text) == text


def test_seal__what_no_address_holds__is_cut_or_replaced() -> None:
    assert sealed.opened(sealed.seal("x" * 9_000)) == "x" * sealed.TEXT_BYTES_MOST
    assert sealed.opened(sealed.seal("ä" * 9_000)) == "ä" * (sealed.TEXT_BYTES_MOST // 2)
    assert "\0" not in sealed.opened(sealed.seal("a\0b"))


@pytest.mark.parametrize("token", ["sealed.", "sealed.x", "sealed.gAAAAABrDdsEGzCVonhewD", "sealed.ä", "sealed.===="])
def test_opened__of_what_is_broken__is_refused(token: str) -> None:
    with pytest.raises(sealed.Unopened):
        sealed.opened(token)


def test_opened__with_other_keys__is_refused_until_the_old_one_is_there_again(settings) -> None:
    settings.ENCRYPTION_KEYS = ["an old key"]
    token = sealed.seal(TERM)
    settings.ENCRYPTION_KEYS = ["a new key"]

    with pytest.raises(sealed.Unopened):
        sealed.opened(token)

    settings.ENCRYPTION_KEYS = ["a new key", "an old key"]
    assert sealed.opened(token) == TERM


def test_opened__of_a_stored_secret__is_refused() -> None:
    """Else whoever got hold of one could read it in the search box."""
    with pytest.raises(sealed.Unopened):
        sealed.opened(sealed.MARK + secrets.encrypt("whsec_secret").rstrip("="))
    with pytest.raises(secrets.Unreadable):
        secrets.decrypt(sealed.seal(TERM).removeprefix(sealed.MARK))


def test_address__of_a_form__has_no_term_and_nothing_of_the_form_itself() -> None:
    form = QueryDict(
        f"_search=1&csrfmiddlewaretoken=t&reason=why&rate=1&confirmation=c&q={TERM}&recipient=&status=FAILED&status=SENT"
    )

    address = sealed.address("/list/", form)

    assert TERM not in address
    query = QueryDict(address.partition("?")[2])
    assert (query.getlist("status"), sealed.opened(query["q"])) == (["FAILED", "SENT"], TERM)
    assert set(query) == {"q", "status"}
    assert sealed.address("/list/", QueryDict("_search=1&q=")) == "/list/"


@pytest.mark.parametrize(
    ("query", "is_open"),
    [
        (f"q={TERM}", True),
        (f"recipient={TERM}&q=", True),
        (f"q={AN_ID}", False),
        ("q=+", False),
        (f"status={TERM}", False),
        ("", False),
    ],
)
def test_is_open__address__tells_whether_something_was_typed(query: str, is_open: bool) -> None:
    assert sealed.is_open(QueryDict(query)) is is_open
    assert not sealed.is_open(QueryDict(sealed.address("/", QueryDict(query)).partition("?")[2]))
