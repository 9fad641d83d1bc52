"""What of a vendor's sentence is shown, and that nothing private ever is."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notifications.providers.plain_words import PLAIN_WORDS
from notifications.providers.redaction import HIDDEN, LENGTH_MOST, shown

SENT = (
    "ada.private@example.org",
    "+4915112345678",
    "Your parcel from Ann is at the Lighthouse, code 4711",
    "Bearer SG.s3same-key",
    "Shop & Co",
)


@pytest.mark.parametrize(
    "text",
    [
        "Maximum credits exceeded",
        "The provided authorization grant is invalid, expired, or revoked",
        "Please activate your Mailgun account.",
        "The from address does not match a verified Sender Identity.",
        "personalizations.0.to: at least one recipient is required",
        "MailFromDomainNotVerifiedException",
        "concurrent_idempotent_requests",
        "Unauthorized: 401",
        "You can send 2 requests per second",
    ],
)
def test_shown__sentence_about_the_account__is_left_as_it_is(text):
    assert shown(text, SENT) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Email address is not verified: ada.private@example.org", "Email address is not verified: [hidden]"),
        ("only to your own address (owner@corp.example)", "only to your own address [hidden]"),
        ("unknown user private at example.org", "unknown user [hidden] at [hidden]"),
        ("The 'To' number +49 151 12345678 is not valid", "The 'To' number [hidden] is not valid"),
        ("Number (491) 511-234 5678 is a landline", "Number [hidden] is a landline"),
        ("spam found in 'parcel from Ann'", "spam found in [hidden] from [hidden]"),
        ("spam: LIGHTHOUSE", "spam: [hidden]"),
        ("spam: Lightho...", "spam: [hidden]"),
        ("code 4711 refused", "code [hidden] refused"),
        ("the number ending in 5678", "the number ending in [hidden]"),
        ("the number 49151XXXX78", "the number [hidden]"),
        ("your parcel from ann is refused", "[hidden] refused"),
        ("API key SG.s3same-key is wrong", "API key [hidden] is wrong"),
        ("api_key=hunter refused", "api_key=[hidden] refused"),
        ("token 00ffab1200ffab12 is invalid", "token [hidden] is invalid"),
        ("id 0190f3c8-0000-7000-8000-0000000000aa exists", "id [hidden] exists"),
        ("bad token dGhpcyBpcyBubyBrZXkgYXQgYWxs", "bad token [hidden]"),
        ("see https://docs.example/x?to=ada for help", "see [hidden] for help"),
        ("ada%40example.org is blocked", "[hidden] is blocked"),
        ("blocked:\\nLighthouse", "blocked: [hidden]"),
        ("blocked: &#76;ighthouse", "blocked: [hidden]"),
        ("a\u200bda.private@example.org\r\n is\x00 bad", "a [hidden] is bad"),
        ("+4915112345678", ""),
        ("ada.private@example.org Lighthouse", ""),
        ("12 : - 7", ""),
        ("", ""),
    ],
)
def test_shown__what_is_private__is_hidden(text, expected):
    assert shown(text, SENT) == expected


def test_shown__plain_word_that_is_the_recipients_name__is_hidden():
    assert shown("no such user: support", ["support@shop.example"]) == "no such user: [hidden]"
    assert shown("no credit", ["no-reply@shop.example"]) == "no credit"
    assert shown("no test.user here", ["test.user@shop.example"]) == "no [hidden] here"


def test_shown__quotation_of_plain_words__is_hidden():
    body = "your account has been suspended, call us"

    assert shown("refused: Your account has been suspended", [body]) == "refused: [hidden]"
    assert shown("your account is suspended", [body]) == "your account is suspended"


def test_shown__long_text__ends_at_a_word():
    line = shown("please verify the sender " * 200, ())

    assert len(line) <= LENGTH_MOST
    assert line.endswith((" please …", " verify …", " the …", " sender …"))


@pytest.mark.parametrize("text", ["a" * 300_000, "1" * 300_000, "+1 " * 100_000, "@" * 300_000, "[hidden]" * 30_000])
def test_shown__huge_text__is_looked_at_in_no_time(text):
    began = time.process_time()

    assert len(shown(text, (text, "x@y.example " * 20_000))) <= LENGTH_MOST
    assert time.process_time() - began < 2


LETTERS = st.text("abcdefghijklmnopqrstuvwxyzäß", min_size=3, max_size=12)
WORDS = LETTERS.filter(lambda word: word.casefold() not in PLAIN_WORDS)
VENDORS = st.sampled_from(["Maximum", "credits", "exceeded", "the", "sender", "is", "verified:", '"', "to:", "(400)"])
MARKS = st.sampled_from(["{}", "'{}'", "({}).", "<{}>", "x={}", "{},", "\\n{}", "{}!", "subject:{}"])


@settings(max_examples=100, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=8), st.data())
def test_shown__words_of_the_message_among_the_vendors__never_appear(words, data):
    marked = [data.draw(MARKS).format(data.draw(st.sampled_from([w, w.upper(), w.title()]))) for w in words]
    text = " ".join(data.draw(st.permutations(marked + data.draw(st.lists(VENDORS, max_size=8)))))

    line = shown(text, [" ".join(words)])

    left = set(re.findall(r"[^\W_]+", line.replace(HIDDEN, " ").casefold()))
    assert not left & {word.casefold() for word in words}


@settings(max_examples=100, deadline=None)
@given(
    st.emails(),
    st.integers(10**6, 10**15).map(str),
    st.text("0123456789abcdef", min_size=20, max_size=64).filter(lambda t: not t.isalpha()),
    st.data(),
)
def test_shown__addresses_numbers_and_keys_of_anybody__never_appear(email, number, key, data):
    parts = [email, f"+{number}", f"{number[:3]} {number[3:]}", key, *data.draw(st.lists(VENDORS, max_size=6))]

    line = shown(" ".join(data.draw(st.permutations(parts))), ())

    assert "@" not in line
    assert number not in line
    assert number[3:] not in line
    assert key not in line


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400), st.lists(st.text(max_size=100), max_size=4))
def test_shown__any_text__is_one_printable_line_within_the_bound(text, private):
    line = shown(text, private)

    assert len(line) <= LENGTH_MOST
    assert line.isprintable()
    assert line == " ".join(line.split())
