"""How many segments a text takes: the rules, and that a program nobody here wrote counts the same."""

import json
import subprocess

import pytest

from notifications.request.content import SMS_MAX_LENGTH
from notifications.sms_segments import Encoding, count
from notifyq.env import Config, Environment
from tests.support.node import peers_home

GSM, UCS = Encoding.GSM_7, Encoding.UCS_2
ALPHABET = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿"
    "abcdefghijklmnopqrstuvwxyzäöñüà"
)
EXTENSION = "\f^{}\\[~]|€"


@pytest.mark.parametrize(
    ("text", "encoding", "segments", "units"),
    [
        ("", GSM, 1, 0),
        ("x" * 160, GSM, 1, 160),
        ("x" * 161, GSM, 2, 161),
        ("x" * 306, GSM, 2, 306),
        ("x" * 307, GSM, 3, 307),
        ("€" * 80, GSM, 1, 160),
        ("x" + "€" * 80, GSM, 2, 161),
        ("x" * 152 + "€" + "x" * 152, GSM, 3, 306),  # the escape does not end a segment
        ("x" * 151 + "€" + "x" * 153, GSM, 2, 306),
        ("ж" * 70, UCS, 1, 70),
        ("ж" * 71, UCS, 2, 71),
        ("ж" * 134, UCS, 2, 134),
        ("ж" * 135, UCS, 3, 135),
        ("x" * 69 + "ж", UCS, 1, 70),
        ("😀" * 35, UCS, 1, 70),
        ("😀" * 36, UCS, 2, 72),
        ("x" * 66 + "😀" + "x" * 66, UCS, 3, 134),  # half a pair does not end a segment
        ("`", UCS, 1, 1),
        ("ç", UCS, 1, 1),
        ("\t", UCS, 1, 1),
    ],
)
def test_count__edges_of_the_alphabets__are_those_of_the_standard(text, encoding, segments, units):
    counted = count(text)

    assert (counted.encoding, counted.count, counted.units) == (encoding, segments, units)


def test_count__each_character_of_gsm__stays_in_it():
    counted = {character: count(character) for character in ALPHABET + EXTENSION}

    assert {c.encoding for c in counted.values()} == {GSM}
    assert {character for character, c in counted.items() if c.units == 2} == set(EXTENSION)
    assert len(counted) == 127 + 10


def test_limit__by_default__refuses_nothing_that_the_length_lets_through():
    longest = max(count(c * SMS_MAX_LENGTH).count for c in ("x", "€", "ж", "😀"))

    assert Config.load(Environment({})).sms_max_segments == longest


CASES = [
    *(c * n for c in ("x", "€", "ж", "😀") for n in (1, 33, 34, 35, 36, 66, 67, 68, 70, 71, 80, 81, 134, 135)),
    *("x" * n for n in (153, 160, 161, 306, 307, 1600)),
    *("x" * n + c + "x" * 160 for n in (151, 152, 153, 65, 66, 67) for c in ("€", "😀", "ж")),
    *("ab{c}" * 40, "line\r\nline\n" * 20, "“quoted” … dots", "zażółć gęślą jaźń", "مرحبا " * 20, "\tx", "`", "ç"),
    ALPHABET,
    ALPHABET + EXTENSION,
]
COUNT = """
const { SegmentedMessage } = require('sms-segments-calculator');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const counted = texts.map((text) => new SegmentedMessage(text, 'auto', false));
console.log(JSON.stringify(counted.map((c) => [c.encodingName, c.segmentsCount])));
"""


def test_count__beside_the_calculator_of_twilio__is_the_same():
    done = subprocess.run(
        ["node", "-e", COUNT], cwd=peers_home(), input=json.dumps(CASES), capture_output=True, text=True, timeout=30
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[c.encoding, c.count] for c in map(count, CASES)]
