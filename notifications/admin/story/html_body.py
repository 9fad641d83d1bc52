"""A notification's HTML body as its recipient would see it, behind bars: a stranger wrote it."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse

from notifications.models import Content
from notifyq.console import Page, add_page
from notifyq.roles import SEE_PRIVATE

# No script, no form, no plug-in, nothing from elsewhere; an origin of its own, even when it is opened by itself.
POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "X-DNS-Prefetch-Control": "off",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-store",
}


def view(request: HttpRequest, notification_id: UUID) -> HttpResponse:
    """The stored HTML, as it is."""
    if not request.user.has_perm("notifications.view_notification"):
        raise PermissionDenied
    html = Content.objects.filter(pk=notification_id).values_list("html_body", flat=True).first()
    if not html:
        raise Http404
    return HttpResponse(html, content_type="text/html; charset=utf-8", headers=HEADERS)


add_page(
    Page(
        path="notifications/notification/<uuid:notification_id>/html/",
        name="notification-html",
        view=view,
        permission=SEE_PRIVATE,
    )
)
