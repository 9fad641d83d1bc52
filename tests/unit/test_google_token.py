"""Access tokens: kept, renewed early and by one thread at a time, and never the cause of an unknown outcome."""

import json
import threading

import jwt
import pytest

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers.base import DuplicateHarm
from notifications.providers.http import Answer
from notifications.providers.push import google_token
from notifications.providers.push.google_account import parse_service_account
from notifications.providers.push.google_token import AccessTokens, Token
from notifications.providers.registry import build
from notifications.verdict import Outcome, Verdict
from notifyq.env import Environment
from tests.support.push_accounts import fcm_variables, google_key, service_account

ACCOUNT = parse_service_account(json.dumps(service_account()))


def granted(value="access-1", seconds=3600):
    return Answer(200, {}, json.dumps({"access_token": value, "expires_in": seconds, "token_type": "Bearer"}).encode())


class Endpoint:
    """Answers one after the other, and keeps what it was sent."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.forms = []
        self.spans = []

    def __call__(self, url, form, timeout_seconds):
        self.forms.append(form)
        self.spans.append(timeout_seconds)
        return self.answers.pop(0)


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(google_token, "elapsed", lambda: now[0])
    return now


def value(got):
    return got.value if isinstance(got, Token) else got.error_code


def test_get__first__exchanges_a_signed_assertion():
    endpoint = Endpoint(granted())

    assert value(AccessTokens(ACCOUNT, endpoint).get(5)) == "access-1"

    [form] = endpoint.forms
    claims = jwt.decode(
        form["assertion"],
        ACCOUNT.key.public_key(),
        algorithms=["RS256"],
        audience="https://oauth2.googleapis.com/token",
    )
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    assert (claims["iss"], claims["exp"] - claims["iat"]) == (service_account()["client_email"], 3600)


def test_get__again__keeps_it_until_it_is_time_and_renews_before_its_end(clock):
    tokens = AccessTokens(ACCOUNT, Endpoint(granted(), granted("access-2")))
    seen = [value(tokens.get(5))]
    for passed in (3299, 3301):
        clock[0] = 1000.0 + passed
        seen.append(value(tokens.get(5)))

    assert seen == ["access-1", "access-1", "access-2"]


def test_get__renewal_fails__the_old_one_serves_on_and_is_not_renewed_at_once(clock):
    endpoint = Endpoint(granted(), Answer(503, {}, b""), granted("access-2"))
    tokens = AccessTokens(ACCOUNT, endpoint)
    tokens.get(5)
    seen = []
    for passed in (3301, 3302, 3332):
        clock[0] = 1000.0 + passed
        seen.append(value(tokens.get(5)))

    assert seen == ["access-1", "access-1", "access-2"]
    assert len(endpoint.forms) == 3


def test_get__expired_and_none_to_be_had__is_no_token(clock):
    tokens = AccessTokens(ACCOUNT, Endpoint(granted(), Answer(500, {}, b"")))
    tokens.get(5)
    clock[0] = 1000.0 + 3595

    assert value(tokens.get(5)) == "token_http_500"


@pytest.mark.parametrize(
    ("answer", "outcome", "code"),
    [
        (Answer(400, {}, b'{"error": "invalid_grant"}'), Outcome.PROVIDER_FAULT, "token_invalid_grant"),
        (Answer(401, {}, b'{"error": "invalid_client"}'), Outcome.PROVIDER_FAULT, "token_invalid_client"),
        (Answer(403, {}, b"{}"), Outcome.PROVIDER_FAULT, "token_http_403"),
        (Answer(302, {}, b""), Outcome.PROVIDER_FAULT, "token_redirected"),
        (Answer(429, {}, b"{}", 7.0), Outcome.TEMPORARY, "token_throttled"),
        (Answer(503, {}, b"{}", 7.0), Outcome.TEMPORARY, "token_http_503"),
        (Answer(400, {}, b"<html>"), Outcome.TEMPORARY, "token_no_proof"),
        (Answer(200, {}, b"{}"), Outcome.TEMPORARY, "token_no_proof"),
        (Answer(200, {}, b'{"access_token": "a\\nb", "expires_in": 9}'), Outcome.TEMPORARY, "token_no_proof"),
        (Answer(200, {}, b'{"access_token": "a", "expires_in": true}'), Outcome.TEMPORARY, "token_no_proof"),
        (Answer(200, {}, b'{"access_token": "a", "expires_in": NaN}'), Outcome.TEMPORARY, "token_no_proof"),
        (Verdict.unconfirmed("read_timeout", "no answer"), Outcome.TEMPORARY, "token_read_timeout"),
        (Verdict.temporary("dns_failure", "no name"), Outcome.TEMPORARY, "token_dns_failure"),
    ],
)
def test_get__endpoint_fails__certainly_nothing_was_sent(answer, outcome, code):
    got = AccessTokens(ACCOUNT, Endpoint(answer)).get(5)

    assert isinstance(got, Verdict)
    assert (got.outcome, got.error_code) == (outcome, code)
    if isinstance(answer, Answer) and answer.retry_after_seconds:
        assert (got.retry_after_seconds, got.throttled) == (7.0, answer.status == 429)


def test_refused__young__says_that_another_will_not_do_and_old_that_it_may(clock):
    tokens = AccessTokens(ACCOUNT, Endpoint(granted(), granted("access-2")))
    first = tokens.get(5)
    assert not tokens.refused(first)
    second = tokens.get(5)
    clock[0] += 61
    assert tokens.refused(second)
    assert value(second) == "access-2"


def test_many_threads__at_once__fetch_one_token_and_share_a_failure():
    entered, go = threading.Event(), threading.Event()
    asked = []

    def slow(url, form, timeout_seconds):
        asked.append(form)
        entered.set()
        assert go.wait(5)
        return Answer(503, {}, b"") if len(asked) == 1 else granted()

    tokens = AccessTokens(ACCOUNT, slow)
    got = []

    def all_at_once():
        threads = [threading.Thread(target=lambda: got.append(value(tokens.get(5)))) for _ in range(8)]
        threads[0].start()
        assert entered.wait(5)
        for thread in threads[1:]:
            thread.start()
        # One that waits for a shorter time gives up in time, without a fetch of its own.
        assert value(tokens.get(0.01)) == "token_read_timeout"
        go.set()
        for thread in threads:
            thread.join()

    all_at_once()

    assert got[0] == "token_http_503"
    assert len(asked) < 8
    assert set(got) <= {"token_http_503", "access-1"}


def test_fetch__a_bug_in_it__does_not_leave_the_others_waiting():
    def broken(url, form, timeout_seconds):
        raise RecursionError

    tokens = AccessTokens(ACCOUNT, broken)
    for _ in range(2):
        with pytest.raises(RecursionError):
            tokens.get(0.1)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"NOTIFYQ_FCM_CREDENTIALS": ""}, "NOTIFYQ_FCM_CREDENTIALS is not set"),
        (
            {"NOTIFYQ_FCM_CREDENTIALS": "/no/such/file.json"},
            "NOTIFYQ_FCM_CREDENTIALS must be the key itself",
        ),
        ({"NOTIFYQ_FCM_CREDENTIALS": "{private"}, "NOTIFYQ_FCM_CREDENTIALS is not JSON"),
        (
            {"NOTIFYQ_FCM_CREDENTIALS": json.dumps(service_account(type="authorized_user"))},
            "NOTIFYQ_FCM_CREDENTIALS is not the key file of a service account",
        ),
        (
            {"NOTIFYQ_FCM_CREDENTIALS": json.dumps(service_account(private_key="private"))},
            'NOTIFYQ_FCM_CREDENTIALS has a "private_key" that cannot be read',
        ),
        (
            {"NOTIFYQ_FCM_CREDENTIALS": json.dumps(service_account(client_email=7))},
            'NOTIFYQ_FCM_CREDENTIALS has no "client_email"',
        ),
        (
            {"NOTIFYQ_FCM_CREDENTIALS": json.dumps(service_account(token_uri="file:///private"))},
            'NOTIFYQ_FCM_CREDENTIALS has a "token_uri" that is no URL',
        ),
        ({"NOTIFYQ_FCM_CREDENTIALS": json.dumps(service_account(project_id=""))}, "NOTIFYQ_FCM_PROJECT_ID is not set"),
        ({"NOTIFYQ_FCM_PROJECT_ID": "a/b"}, "NOTIFYQ_FCM_PROJECT_ID must be the id of a Firebase project"),
        ({"NOTIFYQ_FCM_URL": "ftp://private"}, "NOTIFYQ_FCM_URL must be a URL"),
    ],
)
def test_settings__wrong__are_one_line_that_names_the_variable_and_shows_no_secret(variables, message):
    with pytest.raises(ConfigurationError) as wrong:
        build("fcm", Environment(fcm_variables(**variables)))

    assert str(wrong.value).startswith(message)
    assert "\n" not in str(wrong.value)
    assert google_key()[30:60] not in str(wrong.value)


def test_settings__credentials_in_a_file_and_a_label__are_read(tmp_path):
    file = tmp_path / "account.json"
    file.write_text(json.dumps(service_account()))
    provider = build("fcm:shop-b", Environment({"NOTIFYQ_FCM_SHOP_B_CREDENTIALS": str(file)}))

    assert provider.name == "fcm:shop-b"
    assert provider.channels == {Channel.PUSH}
    assert not provider.capabilities.dedupes
    assert provider.capabilities.duplicate_harm is DuplicateHarm.NONE
    assert [a for a in ("fcm:x", "fcm-fid:x", "apns:00") if provider.carries(a)] == ["fcm:x", "fcm-fid:x"]
    assert google_key()[30:60] not in repr(ACCOUNT)
