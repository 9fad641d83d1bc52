"""Signing for SES with credentials that have to be renewed by asking somebody else."""

import logging
import threading
from datetime import UTC, datetime, timedelta

import pytest
from botocore.credentials import Credentials, RefreshableCredentials
from botocore.exceptions import CredentialRetrievalError

from notifications.providers.email.ses_signing import Signer
from notifications.verdict import Outcome, Verdict

URL = "https://email.eu-west-1.amazonaws.com/v2/email/outbound-emails"


def renewed_by(renew):
    """Credentials that are expired, so that the next use renews them."""
    past = datetime.now(UTC) - timedelta(hours=1)
    return RefreshableCredentials("AKID-old", "secret", "token-old", past, renew, "test")


def fresh():
    expiry = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    return {"access_key": "AKID-new", "secret_key": "secret", "token": "token-new", "expiry_time": expiry}


def sign(credentials, timeout_seconds=5.0):
    return Signer(credentials, "eu-west-1").headers(URL, b"{}", timeout_seconds=timeout_seconds)


def test_headers__credentials_that_last__sign_at_once():
    headers = sign(Credentials("AKID", "secret"))

    assert headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert headers["Content-Type"] == "application/json"
    assert "secret" not in str(headers)


def test_headers__credentials_expired__are_renewed_first(caplog):
    caplog.set_level(logging.DEBUG)

    headers = sign(renewed_by(fresh))

    assert "Credential=AKID-new/" in headers["Authorization"]
    assert headers["X-Amz-Security-Token"] == "token-new"
    assert "token-new" not in caplog.text


def test_headers__renewing_hangs__is_certainly_not_sent_and_in_time():
    asked, over = threading.Event(), threading.Event()

    def hang():
        asked.set()
        over.wait(30)
        return fresh()

    verdict = sign(renewed_by(hang), timeout_seconds=0.05)
    over.set()

    assert asked.is_set()
    assert isinstance(verdict, Verdict)
    assert (verdict.outcome, verdict.error_code) == (Outcome.TEMPORARY, "credentials_timeout")


@pytest.mark.parametrize(
    "error", [CredentialRetrievalError(provider="sts", error_msg="secret"), OSError("secret"), RuntimeError("secret")]
)
def test_headers__renewing_fails__is_the_account_at_fault(error):
    def fail():
        raise error

    verdict = sign(renewed_by(fail))

    assert isinstance(verdict, Verdict)
    assert (verdict.outcome, verdict.error_code) == (Outcome.PROVIDER_FAULT, "credentials_unavailable")
    assert "secret" not in repr(verdict)
