"""Which limit holds for whom, and in what order buckets are locked."""

from uuid import UUID, uuid4

import pytest

from ratelimits.window import Bucket, Limit, RuleBook, in_lock_order, lock_key

DEFAULT, BY_CHANNEL, BY_CLIENT, BY_BOTH = Limit(10, 3600), Limit(5, 60), Limit(3, 60), Limit(1, 60)
SHOP, OTHER = uuid4(), uuid4()


def bucket(rules, *, default=DEFAULT, channel="EMAIL", client_id=SHOP, recipient="ada@example.org"):
    return RuleBook(default, rules).bucket(channel=channel, client_id=client_id, recipient=recipient)


@pytest.mark.parametrize(
    ("rules", "limit", "owner"),
    [
        ({}, DEFAULT, None),
        ({("", None): BY_CHANNEL}, BY_CHANNEL, None),
        ({("EMAIL", None): BY_CHANNEL, ("", None): BY_BOTH}, BY_CHANNEL, None),
        ({("SMS", None): BY_CHANNEL}, DEFAULT, None),
        ({("", SHOP): BY_CLIENT, ("EMAIL", None): BY_CHANNEL}, BY_CLIENT, SHOP),
        ({("EMAIL", SHOP): BY_BOTH, ("", SHOP): BY_CLIENT}, BY_BOTH, SHOP),
        ({("SMS", SHOP): BY_BOTH}, DEFAULT, None),
        ({("", OTHER): BY_CLIENT}, DEFAULT, None),
    ],
)
def test_bucket__several_rules__the_most_exact_one_holds(rules, limit, owner):
    found = bucket(rules)

    assert (found.limit, found.client_id, found.channel) == (limit, owner, "EMAIL")


@pytest.mark.parametrize("rules", [{("EMAIL", None): None}, {("", SHOP): None}, {("", None): None}])
def test_bucket__a_rule_without_a_limit__limits_nothing(rules):
    assert bucket(rules) is None


def test_bucket__no_default__limits_only_what_a_rule_names():
    assert bucket({}, default=None) is None
    assert bucket({("EMAIL", None): BY_CHANNEL}, default=None).limit == BY_CHANNEL


def test_bucket__same_recipient__is_shared_by_clients_unless_one_has_a_rule_of_its_own():
    shared = bucket({}).id

    assert bucket({}, client_id=OTHER).id == shared
    assert bucket({("", OTHER): BY_CLIENT}).id == shared
    assert bucket({("", SHOP): BY_CLIENT}).id != shared
    assert bucket({}, channel="SMS").id != shared
    assert bucket({}, recipient="eve@example.org").id != shared


def test_bucket__its_id__does_not_show_the_recipient():
    assert b"ada" not in bucket({}).id.bytes


def test_limit_of__a_gate_made_earlier__goes_by_the_rules_of_now():
    book = RuleBook(DEFAULT, {("EMAIL", None): BY_CHANNEL})

    assert book.limit_of("EMAIL", None) == BY_CHANNEL
    assert book.limit_of("EMAIL", SHOP) is None  # its own rule is gone: what waits counts with the others' from now on


@pytest.mark.parametrize("first", [b"\x00", b"\x7f", b"\x80", b"\xff"])
def test_lock_key__any_id__fits_a_signed_bigint(first):
    key = lock_key(UUID(bytes=first + b"\x01" * 15))

    assert -(2**63) <= key < 2**63


def test_in_lock_order__any_order__is_the_same_each_once():
    buckets = [Bucket(uuid4(), "EMAIL", None, DEFAULT) for _ in range(20)]

    ordered = in_lock_order([*buckets, *reversed(buckets)])

    assert ordered == in_lock_order(reversed(buckets))
    assert [b.lock_key for b in ordered] == sorted({b.lock_key for b in buckets})
