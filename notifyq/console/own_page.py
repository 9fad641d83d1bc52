"""Pages of our own for single rows, in the place of Django's form."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from notifyq.console.mixin import AdminMixin


class OwnPage(AdminMixin):
    """For the admin of rows that have a page of their own. It only looks: what it offers to do has addresses of its
    own."""

    def show(self, request: HttpRequest, row: Any) -> HttpResponse:
        """The page of one row."""
        raise NotImplementedError

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        if row is None:
            # What the admin does itself; the stubs leave it out.
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined,no-any-return]
        return self.show(request, row)

    def headed(self, request: HttpRequest, title: str) -> dict[str, Any]:
        """What every page of the console needs."""
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}
