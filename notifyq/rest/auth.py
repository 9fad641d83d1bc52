"""Bearer keys and scopes, without knowing where keys are kept."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Protocol, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

REALM = "notify-queue"


class Caller(Protocol):
    """Who asks: what stands in `request.user`."""

    @property
    def is_authenticated(self) -> bool: ...

    @property
    def scopes(self) -> Collection[str]: ...


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer <key>`."""

    @abstractmethod
    def caller(self, key: str) -> Caller | None:
        """Who holds the key; None when it is refused."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        """None when no bearer key was sent, so that a public address stays public."""
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        caller = self.caller(key.strip())
        if caller is None:
            raise AuthenticationFailed("The key is not valid.")
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        return f'Bearer realm="{REALM}"'


class HasScope(BasePermission):
    """The caller has one of the scopes that the view declares for the method in `scopes`.

    A method that is not declared is let through to be answered with 405.
    """

    message = "This key does not have the scope for that."

    def has_permission(self, request: Request, view: APIView) -> bool:
        declared: Mapping[str, Collection[str]] = view.scopes  # type: ignore[attr-defined]
        wanted = declared.get("GET" if request.method == "HEAD" else str(request.method))
        caller = cast("Caller | None", request.user)
        if caller is None or not caller.is_authenticated:
            return False
        return wanted is None or not set(wanted).isdisjoint(caller.scopes)
