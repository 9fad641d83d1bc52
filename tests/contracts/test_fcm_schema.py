"""What is sent to Google is held against what Google publishes: the interface's description and its own library."""

import json
from datetime import UTC, datetime
from uuid import UUID

import jwt
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from notifications.channel import Channel
from notifications.providers.base import Message
from notifications.providers.push.fcm_message import document
from notifications.providers.push.google_account import SCOPE, parse_service_account
from tests.support.discovery import schema_of
from tests.support.peers import need
from tests.support.push_accounts import service_account

IDENTITY = UUID("0190f3c8-0000-7000-8000-0000000000aa")
EXPIRES = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
FULL = {
    "subject": "Shipped",
    "data": {"order": "1234"},
    "collapse_key": "order-1234",
    "expires_at": EXPIRES,
    "ttl_seconds": 90.9,
}


def a_message(recipient="fcm:token-1", **changes):
    return Message(IDENTITY, Channel.PUSH, recipient, "On its way.", **changes)


@pytest.fixture(scope="module")
def validator():
    return Draft202012Validator(schema_of("fcm.v1", "SendMessageRequest"))


@pytest.mark.parametrize("changes", [{}, FULL, {"urgent": False}, {"ttl_seconds": 1e9, "expires_at": EXPIRES}])
@pytest.mark.parametrize("recipient", ["fcm:dGhpcw:APA91b-x_y.z", "fcm-fid:cXk3vN0"])
def test_body__of_any_message__is_as_google_describes_it(recipient, changes, validator):
    validator.validate(document(a_message(recipient, **changes)))


def test_schema__something_undescribed__is_not_let_through(validator):
    body = document(a_message())
    body["message"]["android"]["tag"] = "x"
    assert not validator.is_valid(body)
    assert not validator.is_valid({"message": {"android": {"ttl": "1h"}}})


@pytest.mark.parametrize(
    ("recipient", "field", "address"),
    [("fcm:a:b-c", "token", "a:b-c"), ("fcm-fid:a:b-c", "fid", "a:b-c")],
)
def test_body__address__stands_in_the_field_of_its_kind(recipient, field, address):
    sent = document(a_message(recipient))["message"]
    assert (sent[field], {"token", "fid"} & set(sent)) == (address, {field})


def test_body__full__carries_everything():
    assert document(a_message(**FULL))["message"] == {
        "token": "token-1",
        "notification": {"title": "Shipped", "body": "On its way."},
        "data": {"order": "1234", "notifyq_id": str(IDENTITY)},
        "android": {"priority": "HIGH", "notification": {"tag": "order-1234"}, "ttl": "90s"},
        "apns": {
            "headers": {
                "apns-collapse-id": "order-1234",
                "apns-priority": "10",
                "apns-expiration": str(int(EXPIRES.timestamp())),
            }
        },
    }


def test_body__bare__copies_fall_together_by_the_id_of_the_notification():
    sent = document(a_message(urgent=False))["message"]

    assert sent["notification"] == {"body": "On its way."}
    assert sent["android"] == {"priority": "NORMAL", "notification": {"tag": str(IDENTITY)}}
    assert sent["apns"]["headers"] == {"apns-collapse-id": str(IDENTITY), "apns-priority": "5"}


def test_ttl__longer_than_fcm_keeps__is_cut():
    assert document(a_message(ttl_seconds=1e9))["message"]["android"]["ttl"] == "2419200s"


def test_assertion__compared_with_googles_own_library__says_the_same():
    credentials_of = need("google.oauth2.service_account").Credentials.from_service_account_info
    account = service_account()
    theirs = credentials_of(account, scopes=[SCOPE])._make_authorization_grant_assertion().decode()
    issued_at = jwt.decode(theirs, options={"verify_signature": False})["iat"]

    ours = parse_service_account(json.dumps(account)).assertion(issued_at + 0.5)

    assert jwt.get_unverified_header(ours) == jwt.get_unverified_header(theirs)
    key = parse_service_account(json.dumps(account)).key.public_key()
    both = [jwt.decode(t, key, algorithms=["RS256"], options={"verify_aud": False}) for t in (ours, theirs)]
    assert both[0] == both[1]
