"""Meta-tests: no address of the API is open by mistake, and none is undocumented."""

import re

import pytest
from django.test import Client as HttpClient
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RegexPattern
from drf_spectacular.generators import SchemaGenerator

from notifications import receipts
from notifications.models.client import Scope
from notifications.receipts.registry import RECEIVERS
from notifyq.rest.view import ApiView
from tests.support.api import Caller
from tests.support.callbacks import environment

pytestmark = pytest.mark.django_db
ROOT = "api/v1/"
PARTS = {"uuid": "01a22cbf-5d05-7797-8b38-3cc29ff8d9c8", "int": "1", "str": "x", "slug": "x", "user": "x"}
SCOPES = set(Scope.values)


def routes(patterns, before=""):
    for entry in patterns:
        whole = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry.url_patterns, whole)
        elif isinstance(entry, URLPattern) and whole.startswith(ROOT):
            yield whole, getattr(entry.callback, "cls", None)


def calls():
    """Every (method, path, view) that answers something else than 405."""
    for route, view in routes(get_resolver().url_patterns):
        path = "/" + re.sub(r"<(\w+):\w+>", lambda m: PARTS[m[1]], route)
        for method in view.http_method_names:
            if hasattr(view, method) and method != "head":
                yield pytest.param(method.upper(), path, view, id=f"{method} {route}")


CALLS = list(calls())
OUTSIDE = {
    "": "the landing page",
    "health/live": "for whoever restarts the process",
    "health/ready": "for load balancers",
    "metrics": "has a token of its own",
    "receipts/<str:provider>": "each vendor's own signature, see test_receipts_signatures",
    "api/schema/": "the description of the API",
    "api/docs/": "the same for people",
}
"""Addresses that need no key and no login."""


def test_routes__there_are_some():
    assert len(CALLS) >= 4


@pytest.mark.parametrize(("method", "path", "view"), CALLS)
def test_route__declares_who_may_call_it(method, path, view):
    assert issubclass(view, ApiView)
    assert view.scopes[method]
    assert set(view.scopes[method]) <= SCOPES


@pytest.mark.parametrize(("method", "path", "view"), CALLS)
def test_route__without_a_key__is_401(method, path, view):
    assert HttpClient().generic(method, path).status_code == 401


@pytest.mark.parametrize(("method", "path", "view"), CALLS)
def test_route__with_the_wrong_scope__is_403(method, path, view):
    wrong = sorted(SCOPES - set(view.scopes[method]))
    caller = Caller(scopes=wrong or ("read",))
    if not wrong:  # every scope may call it: a key that has lost all of them may not
        caller.key.scopes = []
        caller.key.save(update_fields=["scopes"])

    assert caller.request(method, path).status_code == 403


def test_routes__without_key_or_login__are_these_and_no_others():
    unlocked = {
        str(entry.pattern)
        for entry in get_resolver().url_patterns
        if isinstance(entry, URLPattern) and not isinstance(entry.pattern, RegexPattern)
    }

    assert unlocked == set(OUTSIDE)


def test_receipts__without_a_signature__are_refused_or_unknown(settings):
    settings.RECEIVERS = receipts.build((), environment())

    answers = {kind: HttpClient().post(f"/receipts/{kind}", "[]", "text/plain").status_code for kind in RECEIVERS}

    assert set(settings.RECEIVERS) == set(RECEIVERS)
    assert answers == dict.fromkeys(RECEIVERS, 403)


def test_routes__each__is_in_the_openapi_document():
    documented = {
        (method.upper(), re.sub(r"{\w+}", "{}", path))
        for path, operations in SchemaGenerator().get_schema(request=None, public=True)["paths"].items()
        for method in operations
    }

    served = {
        (method.upper(), "/" + re.sub(r"<\w+:\w+>", "{}", route))
        for route, view in routes(get_resolver().url_patterns)
        for method in view.http_method_names
        if hasattr(view, method) and method != "head"
    }
    assert served == documented
