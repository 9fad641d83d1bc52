"""Addresses: which are taken, and what becomes of them."""

import pytest

from notifications.channel import Channel
from notifications.request import canonical_filter, canonical_recipient
from notifications.request.fields import Invalid

CANONICAL = [
    ("EMAIL", "Ada.Lovelace@EXAMPLE.com", "Ada.Lovelace@example.com"),
    ("EMAIL", "  ada@example.com ", "ada@example.com"),
    ("EMAIL", "ada+tag@bücher.example", "ada+tag@xn--bcher-kva.example"),
    ("EMAIL", "ada@XN--BCHER-KVA.example", "ada@xn--bcher-kva.example"),
    ("EMAIL", "accept-then-timeout@sandbox.test", "accept-then-timeout@sandbox.test"),
    ("EMAIL", "ada@mail.localhost", "ada@mail.localhost"),
    ("EMAIL", "root@localhost", "root@localhost"),
    ("EMAIL", "ada@printer.local", "ada@printer.local"),
    ("EMAIL", "ada@nowhere.invalid", "ada@nowhere.invalid"),
    ("SMS", "+14155550100", "+14155550100"),
    ("SMS", "+1 (415) 555-0100", "+14155550100"),
    ("SMS", "+15550000001", "+15550000001"),
    ("SMS", "+15550000009", "+15550000009"),
    ("SMS", "+44 20 7946 0958", "+442079460958"),
    ("SMS", "+39 06 6982", "+39066982"),
    ("PUSH", "fcm:dGhpcw:APA91b-x_y.z", "fcm:dGhpcw:APA91b-x_y.z"),
    ("PUSH", "fcm:temporary-twice", "fcm:temporary-twice"),
    ("PUSH", "fcm-fid:cXk3vN0", "fcm-fid:cXk3vN0"),
    ("PUSH", "apns:00FFab12", "apns:00ffab12"),
]
USERS = [
    "user-42",
    "42",
    "Ada",
    "Ada@EXAMPLE.com",
    "+14155550100",
    "fcm:x",
    "Ada Lovelace",
    "tenant/42",
    "ü",
    "a?b#c%2F",
]


@pytest.mark.parametrize(("channel", "given", "canonical"), CANONICAL)
def test_canonical_recipient__valid__is_brought_into_one_form(channel, given, canonical):
    assert canonical_recipient(Channel(channel), given) == canonical


@pytest.mark.parametrize("user", [*USERS, "u" * 255, "read", "read-all/x", "..."])
def test_canonical_recipient__of_a_user__stays_as_it_is_but_for_spaces_around_it(user):
    assert canonical_recipient(Channel.IN_APP, f" {user} ") == user
    assert canonical_filter(user, Channel.IN_APP) == user


@pytest.mark.parametrize("user", ["Ada", "user-42", "tenant/42"])
def test_canonical_filter__of_a_user_without_the_channel__is_refused(user):
    with pytest.raises(Invalid):
        canonical_filter(user)


@pytest.mark.parametrize(("channel", "given", "canonical"), CANONICAL)
def test_canonical_filter__valid__finds_what_was_stored(channel, given, canonical):
    assert canonical_filter(given) == canonical


@pytest.mark.parametrize(
    ("channel", "given"),
    [
        ("EMAIL", "ada"),
        ("EMAIL", "ada@"),
        ("EMAIL", "@example.com"),
        ("EMAIL", "ada@example"),
        ("EMAIL", "a b@example.com"),
        ("EMAIL", "Ada <ada@example.com>"),
        ("EMAIL", "ada@example.com, eve@example.com"),
        ("EMAIL", "ada@example.com\r\nBcc: eve@example.com"),
        ("EMAIL", "ada@example.com\n"),
        ("EMAIL", "ada..l@example.com"),
        ("EMAIL", "ada@-example.com"),
        ("EMAIL", "ada@exa_mple.com"),
        ("EMAIL", "ada@[127.0.0.1]"),
        ("EMAIL", "a" * 65 + "@example.com"),
        ("EMAIL", "ada@" + "a." * 130 + "com"),
        ("EMAIL", "x" * 100_000),
        ("EMAIL", "ada\x00@example.com"),
        ("EMAIL", "\ud800@example.com"),
        ("EMAIL", "+14155550100"),
        ("SMS", "4155550100"),
        ("SMS", "004155550100"),
        ("SMS", "+"),
        ("SMS", "+1"),
        ("SMS", "+1415555"),
        ("SMS", "+14155550100123"),
        ("SMS", "+0123456789"),
        ("SMS", "+9991234567"),
        ("SMS", "+14155550100 ext. 5"),
        ("SMS", "+1800FLOWERS"),
        ("SMS", "tel:+14155550100"),
        ("SMS", "+\uff11\uff14155550100"),
        ("SMS", "ada@example.com"),
        ("PUSH", "token"),
        ("PUSH", "fcm:"),
        ("PUSH", "fcm:a b"),
        ("PUSH", "fcm:ü"),
        ("PUSH", "FCM:token"),
        ("PUSH", "apns:xyz"),
        ("PUSH", "apns:abc"),
        ("PUSH", "apns:../../3/device"),
        ("PUSH", "fcm:" + "a" * 1021),
        ("PUSH", ["fcm:a"]),
        ("IN_APP", 42),
        ("IN_APP", "u" * 256),
        ("IN_APP", "a\nb"),
        ("IN_APP", "a\u2028b"),
        ("IN_APP", "a\u200bb"),
        ("IN_APP", "a\x00b"),
        ("IN_APP", "."),
        ("IN_APP", "a/../b"),
        ("IN_APP", "/a"),
        ("IN_APP", "a/"),
        ("IN_APP", "a//b"),
        ("IN_APP", "a/read-all"),
        ("IN_APP", "a/unread-count"),
        ("IN_APP", "a/01a22cbf-5d05-7797-8b38-3cc29ff8d9c8/read"),
    ],
)
def test_canonical_recipient__not_an_address_of_the_channel__is_refused(channel, given):
    with pytest.raises(Invalid) as caught:
        canonical_recipient(Channel(channel), given)

    assert caught.value.code in {
        "not_an_email_address", "not_a_phone_number", "not_a_device_address", "too_long", "nul_character",
        "lone_surrogate", "not_a_string", "not_printable", "not_a_user_id",
    }  # fmt: skip


def test_canonical_recipient__longest_device_address__is_accepted():
    address = "fcm:" + "a" * 1020

    assert canonical_recipient(Channel.PUSH, address) == address
