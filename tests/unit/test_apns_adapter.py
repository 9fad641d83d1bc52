"""The APNs adapter without a network: reasons, tokens, headers, payload, settings."""

import json
import sys
from datetime import UTC, datetime
from uuid import UUID

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from notifications.channel import Channel
from notifications.device_payload import size_bytes
from notifications.errors import ConfigurationError
from notifications.providers.base import DuplicateHarm, Message
from notifications.providers.http import Answer
from notifications.providers.push import apns_answers, apns_key
from notifications.providers.push.apns import ApnsProvider
from notifications.providers.push.apns_key import TeamKey, TeamTokens, parse_key
from notifications.providers.registry import build
from notifications.verdict import Outcome, Verdict
from notifyq.env import Environment
from tests.support.push_accounts import KEY_ID, TEAM_ID, TOPIC, apns_variables, apple_key, google_key

IDENTITY = UUID("0190f3c8-0000-7000-8000-0000000000aa")
KEY = TeamKey(KEY_ID, TEAM_ID, parse_key(apple_key()))
EXPIRES = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)

REASONS = [
    (400, "BadDeviceToken", Outcome.REJECTED, "device_token_invalid"),
    (400, "DeviceTokenNotForTopic", Outcome.REJECTED, "device_token_of_other_app"),
    (410, "Unregistered", Outcome.REJECTED, "unregistered"),
    (410, "ExpiredToken", Outcome.REJECTED, "device_token_expired"),
    (400, "BadCollapseId", Outcome.REJECTED, "bad_collapse_key"),
    (413, "PayloadTooLarge", Outcome.REJECTED, "payload_too_large"),
    (400, "BadTopic", Outcome.PROVIDER_FAULT, "bad_topic"),
    (400, "TopicDisallowed", Outcome.PROVIDER_FAULT, "topic_disallowed"),
    (403, "InvalidProviderToken", Outcome.PROVIDER_FAULT, "provider_token_invalid"),
    (403, "ExpiredProviderToken", Outcome.PROVIDER_FAULT, "provider_token_expired"),
    (403, "UnrelatedKeyIdInToken", Outcome.PROVIDER_FAULT, "provider_key_unrelated"),
    (404, "BadPath", Outcome.PROVIDER_FAULT, "bad_path"),
    (429, "TooManyRequests", Outcome.TEMPORARY, "throttled"),
    (429, "TooManyProviderTokenUpdates", Outcome.TEMPORARY, "too_many_token_updates"),
    (503, "ServiceUnavailable", Outcome.TEMPORARY, "unavailable"),
    (503, "Shutdown", Outcome.TEMPORARY, "shutdown"),
    (400, "IdleTimeout", Outcome.TEMPORARY, "idle_timeout"),
    (500, "InternalServerError", Outcome.UNCONFIRMED, "internal"),
    (200, "BadDeviceToken", Outcome.UNCONFIRMED, "no_proof"),  # a reason under another status proves nothing
    (500, "BadDeviceToken", Outcome.UNCONFIRMED, "http_500"),
    (403, "SomethingNew", Outcome.PROVIDER_FAULT, "http_403"),
]


def answer(status, reason, wait=None, **more):
    return Answer(status, {}, json.dumps({"reason": reason, **more}).encode(), wait)


@pytest.mark.parametrize(("status", "reason", "outcome", "code"), REASONS)
def test_answer__with_a_reason__has_its_verdict(status, reason, outcome, code):
    verdict = apns_answers.verdict_of(answer(status, reason), IDENTITY)

    assert (verdict.outcome, verdict.error_code) == (outcome, code)


def test_reasons__all_that_apple_lists__are_known():
    """Source: Apple, Handling notification responses from APNs."""
    tables = (apns_answers._REJECTED, apns_answers._ACCOUNT, apns_answers._LATER)
    known = {reason for table in tables for _, reason in table} | {"InternalServerError"}

    assert len(known) == sum(map(len, tables)) + 1 == 32


def test_throttled__with_retry_after__carries_the_wish():
    verdict = apns_answers.verdict_of(answer(429, "TooManyRequests", 7.0), IDENTITY)

    assert (verdict.retry_after_seconds, verdict.throttled) == (7.0, True)


@pytest.mark.parametrize(
    ("moment", "text"),
    [(1454402113123, ", since 2016-02-02T08:35:13Z"), (True, ""), ("1", ""), (1e300, ""), (None, "")],
)
def test_gone__the_moment_since_when__is_kept_in_the_message(moment, text):
    verdict = apns_answers.verdict_of(answer(410, "Unregistered", timestamp=moment), IDENTITY)

    assert verdict.error_message == f"the app is no longer registered under this device token{text}"


@pytest.mark.parametrize("echoed", [str(IDENTITY), str(IDENTITY).upper()])
def test_accepted__needs_our_id_back(echoed):
    assert apns_answers.verdict_of(Answer(200, {"apns-id": echoed}, b""), IDENTITY) == Verdict.accepted(echoed)
    assert apns_answers.verdict_of(Answer(200, {}, b""), IDENTITY).outcome is Outcome.UNCONFIRMED


@pytest.fixture
def clock(monkeypatch):
    """[elapsed, wall clock], which a test moves."""
    now = [0.0, 1_800_000_000.0]
    monkeypatch.setattr(apns_key, "elapsed", lambda: now[0])
    return now


def pass_minutes(clock, minutes):
    clock[0] += minutes * 60
    clock[1] += minutes * 60


def test_token__is_signed_as_apple_wants_and_kept_for_40_minutes(clock):
    tokens = TeamTokens(KEY, lambda: clock[1])
    first = tokens.get()
    claims = jwt.decode(first.value, KEY.key.public_key(), algorithms=["ES256"], options={"verify_iat": False})

    assert claims == {"iss": TEAM_ID, "iat": 1_800_000_000}
    assert jwt.get_unverified_header(first.value) == {"alg": "ES256", "kid": KEY_ID, "typ": "JWT"}
    pass_minutes(clock, 39)
    assert tokens.get() is first
    pass_minutes(clock, 1)
    assert tokens.get().issued_at == clock[1]


def test_token__expired_and_old_enough__is_replaced_once_for_all_threads(clock):
    tokens = TeamTokens(KEY, lambda: clock[1])
    first = tokens.get()
    pass_minutes(clock, 20)

    assert tokens.expired(first)
    second = tokens.get()
    assert second is not first
    assert tokens.expired(first)
    assert tokens.get() is second


def test_token__expired_though_new__is_not_replaced_again_and_again(clock):
    tokens = TeamTokens(KEY, lambda: clock[1])
    first = tokens.get()
    pass_minutes(clock, 1)

    assert not tokens.expired(first)
    assert tokens.get() is first


def test_token__made_before_the_clock_was_set__is_replaced(clock):
    tokens = TeamTokens(KEY, lambda: clock[1])
    first = tokens.get()
    clock[1] += 7200

    assert tokens.expired(first)
    assert tokens.get().issued_at == clock[1]


class Caller:
    """Keeps what it is asked to post; says what it is told to."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.calls = []

    def post(self, path, headers, content, *, timeout_seconds):
        self.calls.append((path, headers, content))
        return self.answers.pop(0)


def sent(caller, clock, **changes):
    provider = ApnsProvider("apns", TeamTokens(KEY, lambda: clock[1]), TOPIC, caller)
    message = Message(IDENTITY, Channel.PUSH, "apns:00ff", "Grüße", **changes)
    return provider.send(message, timeout_seconds=5), *caller.calls[-1]


def test_request__full__carries_everything(clock):
    caller = Caller(Answer(200, {"apns-id": str(IDENTITY)}, b""))
    full = {"subject": "Shop", "data": {"order": "12"}, "collapse_key": "order-12", "expires_at": EXPIRES}
    verdict, path, headers, content = sent(caller, clock, **full)

    assert verdict.outcome is Outcome.ACCEPTED
    assert path == "/3/device/00ff"
    assert headers.pop("authorization").startswith("bearer ey")
    assert headers == {
        "apns-topic": TOPIC,
        "apns-push-type": "alert",
        "apns-id": str(IDENTITY),
        "apns-expiration": str(int(EXPIRES.timestamp())),
        "apns-priority": "10",
        "apns-collapse-id": "order-12",
        "content-type": "application/json",
    }
    assert json.loads(content) == {
        "aps": {"alert": {"title": "Shop", "body": "Grüße"}},
        "order": "12",
        "notifyq_id": str(IDENTITY),
    }
    assert len(content) == size_bytes("Shop", "Grüße", {"order": "12"})


def test_request__bare__is_kept_for_a_device_that_is_away_and_collapses_with_its_own_repeats(clock):
    _, _, headers, content = sent(Caller(Answer(500, {}, b"")), clock, urgent=False)

    assert headers["apns-collapse-id"] == str(IDENTITY)
    assert headers["apns-priority"] == "5"
    assert int(headers["apns-expiration"]) == clock[1] + 28 * 86_400
    assert json.loads(content)["aps"] == {"alert": {"body": "Grüße"}}


@pytest.mark.parametrize(("minutes", "outcome"), [(25, Outcome.TEMPORARY), (1, Outcome.PROVIDER_FAULT)])
def test_send__provider_token_expired__is_tried_with_another_where_that_may_help(minutes, outcome, clock):
    caller = Caller(Answer(200, {"apns-id": str(IDENTITY)}, b""), answer(403, "ExpiredProviderToken"))
    provider = ApnsProvider("apns", TeamTokens(KEY, lambda: clock[1]), TOPIC, caller)
    message = Message(IDENTITY, Channel.PUSH, "apns:00ff", "x")
    provider.send(message, timeout_seconds=5)
    pass_minutes(clock, minutes)

    assert provider.send(message, timeout_seconds=5).outcome is outcome


def curve_key():
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP384R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"NOTIFYQ_APNS_KEY": ""}, "NOTIFYQ_APNS_KEY is not set"),
        ({"NOTIFYQ_APNS_KEY": "/no/such/key.p8"}, "NOTIFYQ_APNS_KEY must be the key itself or the path"),
        ({"NOTIFYQ_APNS_KEY": "-----BEGIN PRIVATE KEY-----\nx"}, "NOTIFYQ_APNS_KEY is not a private key in PEM form"),
        ({"NOTIFYQ_APNS_KEY": google_key()}, "NOTIFYQ_APNS_KEY is not a key for ES256"),
        ({"NOTIFYQ_APNS_KEY": curve_key()}, "NOTIFYQ_APNS_KEY is not a key for ES256"),
        ({"NOTIFYQ_APNS_KEY_ID": "short"}, "NOTIFYQ_APNS_KEY_ID must be the 10 letters and digits"),
        ({"NOTIFYQ_APNS_TEAM_ID": ""}, "NOTIFYQ_APNS_TEAM_ID is not set"),
        ({"NOTIFYQ_APNS_TOPIC": "a b"}, "NOTIFYQ_APNS_TOPIC must be the app's bundle id"),
        ({"NOTIFYQ_APNS_URL": "api.push.apple.com"}, "NOTIFYQ_APNS_URL must be a URL"),
        ({"NOTIFYQ_APNS_URL": "https://äpfel.example"}, "NOTIFYQ_APNS_URL must be a URL in ASCII"),
    ],
)
def test_settings__wrong__are_one_line_that_names_the_variable(variables, message):
    with pytest.raises(ConfigurationError) as wrong:
        build("apns", Environment(apns_variables(**variables)))

    assert str(wrong.value).startswith(message)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize("missing", ["httpcore2", "h2.errors"])
def test_settings__without_the_extra__say_what_to_install(missing, monkeypatch):
    for loaded in ("http2", "http2_trouble"):
        monkeypatch.delitem(sys.modules, f"notifications.providers.push.{loaded}", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(
        ConfigurationError, match=r"^provider 'apns' needs the extra `apns`, as in pip install -e '.\[apns\]'"
    ):
        build("apns", Environment(apns_variables()))


def test_settings__key_in_a_file_or_with_written_line_breaks__is_read(tmp_path):
    file = tmp_path / "AuthKey.p8"
    file.write_text(apple_key())
    written = apple_key().replace("\n", "\\n")
    for key in (str(file), written):
        provider = build("apns", Environment(apns_variables(NOTIFYQ_APNS_KEY=key)))
        provider.close()

    assert provider.channels == {Channel.PUSH}
    assert provider.capabilities.duplicate_harm is DuplicateHarm.NONE
    assert [a for a in ("fcm:x", "fcm-fid:x", "apns:00") if provider.carries(a)] == ["apns:00"]
    assert "PRIVATE" not in repr(KEY)
