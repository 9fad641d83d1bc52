"""POST /api/v1/notifications/batch"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from notifications import services
from notifications.api import openapi, present
from notifications.api.auth import SENDERS
from notifications.api.body import read_body
from notifications.api.read import KEY_HEADER, header_key, read_request
from notifications.api.schemas import BATCH_MOST
from notifications.api.view import NotificationsView, problem_of
from notifications.errors import NotifyError
from notifications.services import Submission
from notifyq.rest.parser import check_fields
from notifyq.rest.problem import Problem, field_error, invalid

BATCH_MAX_BYTES = 16 << 20


class CreateBatch(NotificationsView):
    """Accept many notifications; what is wrong with one refuses only that one."""

    scopes: ClassVar = {"POST": SENDERS}
    body_max_bytes = BATCH_MAX_BYTES
    unchecked_fields = frozenset({"notifications"})

    @openapi.create_batch
    def post(self, request: Request) -> Response:
        """200 once all that is new is committed, in one transaction."""
        results = [read_item(index, item) for index, item in enumerate(_items(request))]
        good = {index: values for index, values in enumerate(results) if not isinstance(values, Problem)}
        submitted = services.submit_many(self.holder(request).client, list(good.values()))
        answers: dict[int, Submission | NotifyError | Problem] = dict(zip(good, submitted, strict=True))
        answers |= {index: refused for index, refused in enumerate(results) if isinstance(refused, Problem)}
        return Response(_answer([_result(index, answers[index]) for index in range(len(results))]))


def read_item(index: int, item: object) -> dict[str, Any] | Problem:
    """What `services.submit_many` takes for it, or what is wrong with it."""
    if not isinstance(item, dict):
        return invalid([field_error(f"notifications[{index}]", "not_an_object", "must be an object")])
    try:
        check_fields(item)
        if item.get("targets") is not None:
            return invalid([field_error("targets", "not_in_a_batch", "must not stand in a batch")])
        return read_request(item, None)
    except Problem as problem:
        return problem


def _items(request: Request) -> list[object]:
    items = read_body(request, ("notifications",))["notifications"]
    errors = []
    if not isinstance(items, list) or not 1 <= len(items) <= BATCH_MOST:
        errors.append(field_error("notifications", "invalid", f"must be a list of 1 to {BATCH_MOST} notifications"))
    if header_key(request) is not None:
        message = f"must stand in each notification, not in the {KEY_HEADER} header"
        errors.append(field_error("idempotencyKey", "conflict", message))
    if errors:
        raise invalid(errors)
    return list(items)


def _result(index: int, answer: Submission | NotifyError | Problem) -> dict[str, Any]:
    if isinstance(answer, Submission):
        status = 201 if answer.created else 200
        return {"index": index, "status": status, "notification": present.notification(answer.notification)}
    problem = answer if isinstance(answer, Problem) else problem_of(answer)
    assert problem is not None  # noqa: S101 (each error of a submission has one)
    return {"index": index, "status": problem.status, "problem": problem.document()}


def _answer(results: list[Mapping[str, Any]]) -> dict[str, Any]:
    statuses = [result["status"] for result in results]
    created, replayed = statuses.count(201), statuses.count(200)
    rejected = len(statuses) - created - replayed
    return {"results": results, "created": created, "replayed": replayed, "rejected": rejected}
