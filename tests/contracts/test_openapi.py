"""The OpenAPI document against the service: whatever can be generated from it gets an answer that it documents."""

import re
from uuid import UUID

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from notifications.api import act_schemas, history_schemas, present, schemas
from notifications.api.names import GROUP_FIELDS, REQUEST_FIELDS, camel
from notifications.api.retry_many import FIELDS as RETRY_MANY_FIELDS
from notifications.models import OperatorAction
from notifications.request.content import CHANNELS_OF_FIELD
from notifications.status import Status
from notifyq.wsgi import application
from tests.support.api import Caller
from tests.support.factories import AttemptFactory, NotificationFactory

DOCUMENT = SchemaGenerator().get_schema(request=None, public=True)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ADDRESSES = {"EMAIL": "ada@example.com", "SMS": "+14155550100", "PUSH": "fcm:token", "IN_APP": "ada"}
BOUNDED = settings(
    max_examples=20,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def operations():
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    schema.app = application
    for result in schema.get_all_operations():
        operation = result.ok()
        yield pytest.param(operation, id=operation.label)


OPERATIONS = list(operations())


@pytest.fixture
def caller(db, settings):
    settings.ALLOWED_HOSTS = ["*"]
    # The whole WSGI application would close the connection that holds the test's transaction.
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield Caller(scopes=("send", "read", "operate"))
    for signal in signals:
        signal.connect(close_old_connections)


def existing(caller) -> list[UUID]:
    """One notification in every state, with a history."""
    rows = [NotificationFactory(client=caller.client, status=status) for status in Status]
    for row in rows:
        AttemptFactory(notification=row)
    return [row.pk for row in rows]


def call(case, key):
    case.call_and_validate(checks=CHECKS, headers={"Authorization": f"Bearer {key}"})


def made_plausible(case):
    """Put in what no schema can say: an address fits its channel, keys agree, and cursors come from an answer."""
    if isinstance(case.query, dict):
        case.query.pop("cursor", None)
        case.query.pop("recipient", None)
    if isinstance(case.body, dict) and "scope" in case.body:
        case.body["value"] = None if case.body["scope"] == "ALL" else "EMAIL"
    elif isinstance(case.body, dict):
        for number, item in enumerate(case.body.get("notifications", [])):
            fit(item, f"key-{number % 3}")
        if "targets" in case.body:
            fit_group(case.body)
        elif "channel" in case.body and "body" in case.body:
            fit(case.body, None)
            case.headers["Idempotency-Key"] = f"key-{len(case.body) % 3}"
    return case


def fit(item, key):
    channel = item["channel"]
    item |= {"recipient": ADDRESSES[channel], "idempotencyKey": key, "replyTo": None, "dedupeByContent": None}
    item |= {camel(name): None for name, owners in CHANNELS_OF_FIELD.items() if channel not in owners}
    item |= {"subject": "Hello"} if channel == "EMAIL" else {}


def fit_group(body):
    body["targets"] = [{"channel": c, "recipient": ADDRESSES[c]} for c in ("EMAIL", "SMS")]
    body |= {"idempotencyKey": "group", "replyTo": None, "dedupeByContent": None, "data": None, "collapseKey": None}
    body |= {"subject": "Hello"}


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation__whatever_is_sent__gets_a_documented_answer(operation, mode, caller):
    NotificationFactory(client=caller.client)

    @BOUNDED
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case):
        call(made_plausible(case) if mode is GenerationMode.POSITIVE else case, caller.key.secret)

    run()


@pytest.mark.parametrize("operation", [p for p in OPERATIONS if "{notification_id}" in p.values[0].path])
def test_operation__notification_in_any_state__gets_a_documented_answer(operation, caller):
    for pk in existing(caller):
        case = operation.Case(path_parameters={"notification_id": str(pk)})
        call(case, caller.key.secret)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("key", ["", "nq_wrong"])
def test_operation__without_a_valid_key__gets_a_documented_answer(operation, key, caller):
    parameters = {name: str(NotificationFactory().pk) for name in re.findall(r"{(\w+)}", operation.path)}

    call(operation.Case(path_parameters=parameters), key)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation__without_the_scope__gets_a_documented_answer(operation, caller):
    caller.key.scopes = []
    caller.key.save(update_fields=["scopes"])
    parameters = {name: str(NotificationFactory().pk) for name in re.findall(r"{(\w+)}", operation.path)}

    call(operation.Case(path_parameters=parameters), caller.key.secret)


def test_document__is_valid_openapi():
    validate_schema(DOCUMENT)


def test_document__every_operation__has_the_key_and_an_example():
    for path, by_method in DOCUMENT["paths"].items():
        for method, operation in by_method.items():
            assert operation["security"] == [{"key": []}], (method, path)
            assert operation["summary"]
            assert {"400", "401", "403", "429", "500", "503"} <= set(operation["responses"])
            assert any(status.startswith("2") for status in operation["responses"]), (method, path)
    created = DOCUMENT["paths"]["/api/v1/notifications"]["post"]
    assert len(created["requestBody"]["content"]["application/json"]["examples"]) == 5


EXAMPLES = sorted(name for name, schema in DOCUMENT["components"]["schemas"].items() if "example" in schema)


@pytest.mark.parametrize("name", EXAMPLES)
def test_document__example__fits_its_schema(name):
    schema = DOCUMENT["components"]["schemas"][name] | {"components": DOCUMENT["components"]}

    Draft202012Validator(schema, format_checker=FormatChecker()).validate(schema["example"])


def test_document__request__has_exactly_the_fields_that_are_read():
    assert list(schemas.REQUEST["properties"]) != []
    assert set(schemas.REQUEST["properties"]) == set(REQUEST_FIELDS)
    assert set(schemas.GROUP_REQUEST["properties"]) == set(GROUP_FIELDS)
    assert set(act_schemas.RETRY_MANY_REQUEST["properties"]) == set(RETRY_MANY_FIELDS)


@pytest.mark.django_db
def test_document__answers__have_exactly_the_properties_that_are_shown():
    row = AttemptFactory().notification
    action = OperatorAction(status_before=Status.FAILED, created_at=row.created_at)

    assert list(schemas.NOTIFICATION["properties"]) == list(present.notification(row))
    assert list(schemas.NOTIFICATION_IN_FULL["properties"]) == list(present.notification_in_full(row))
    assert list(history_schemas.ATTEMPT["properties"]) == list(present.attempt(row.attempts.get()))
    assert list(act_schemas.OPERATOR_ACTION["properties"]) == list(present.operator_action(action))
