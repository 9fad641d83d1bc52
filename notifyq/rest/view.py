"""What every address of the API has in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.views.decorators.csrf import csrf_exempt
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from notifyq.rest.auth import HasScope
from notifyq.rest.parser import BODY_MAX_BYTES, StrictJsonParser, refuse_long_body
from notifyq.rest.problem import Problem, field_error, invalid, not_found

ERRORS_SHOWN_MOST = 50
_HEADERS = "headers_of_the_answer"


class ApiView(APIView):
    """Takes and gives JSON only, and opens to callers with one of the scopes of the method.

    Attributes:
        scopes: by HTTP method, the scopes of which the caller needs one.
        body_max_bytes: the longest body taken.
        unchecked_fields: fields of a body that the view hands to `parser.check_fields` part by part.
    """

    scopes: ClassVar[Mapping[str, Collection[str]]] = {}
    body_max_bytes: ClassVar[int] = BODY_MAX_BYTES
    unchecked_fields: ClassVar[Collection[str]] = frozenset()
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]  # no OPTIONS: the schema says it better
    parser_classes = [StrictJsonParser]
    renderer_classes = [JSONRenderer]
    permission_classes = [HasScope]

    @property
    def default_response_headers(self) -> dict[str, str]:
        return {**super().default_response_headers, "Cache-Control": "no-store"}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        refuse_long_body(request, self.body_max_bytes)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        self.headers |= getattr(request, _HEADERS, {})
        return super().finalize_response(request, response, *args, **kwargs)


def add_headers(request: Request, headers: Mapping[str, str]) -> None:
    """Have the answer to this request carry these headers, whatever it is."""
    setattr(request, _HEADERS, {**getattr(request, _HEADERS, {}), **headers})


Check = Callable[[Mapping[str, list[str]]], object]


def query_values(
    request: Request, known: Collection[str], repeatable: Collection[str] = (), checks: Iterable[Check] = ()
) -> dict[str, list[str]]:
    """The query's values by name.

    Args:
        checks: what reads the values; what they raise as a `Problem` is told together with all else that is wrong.

    Raises:
        Problem: 400, naming what is unknown, given twice, not text that can be stored, or refused by a check.
    """
    errors = _query_errors(request, known, repeatable)
    named = {error["field"] for error in errors}
    values = {name: texts for name, texts in request.query_params.lists() if texts}
    for check in checks:
        try:
            check({name: texts for name, texts in values.items() if name not in named})
        except Problem as problem:
            errors += problem.errors
    if errors:
        raise invalid(errors[:ERRORS_SHOWN_MOST])
    return values


def _query_errors(request: Request, known: Collection[str], repeatable: Collection[str]) -> list[dict[str, str]]:
    errors = []
    for name, values in request.query_params.lists():
        if name not in known:
            errors.append(unknown_parameter(name))
        elif len(values) > 1 and name not in repeatable:
            errors.append(field_error(name, "repeated", "must be given only once"))
        elif any("\x00" in value for value in values):
            errors.append(field_error(name, "nul_character", "must not contain the NUL character"))
    return errors


def unknown_parameter(name: str) -> dict[str, str]:
    return field_error(name[:100].replace("\x00", "?"), "unknown", "is not a parameter of this address")


@csrf_exempt
def unknown_address(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Below /api/ even what is not there answers as a problem document."""
    return (_slash_too_many() if rest.endswith("/") and _is_known(request.path.rstrip("/")) else not_found()).response()


def _slash_too_many() -> Problem:
    return Problem(404, "not-found", "There is nothing at this address. Leave off the slash at its end.")


def _is_known(path: str) -> bool:
    try:
        return resolve(path).func is not unknown_address
    except Resolver404:
        return False
