"""Every address of the service."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import TemplateView

from notifications.api.receive_receipts import ReceiveReceipts
from notifyq import health
from notifyq.console import Page, add_page
from notifyq.metrics_view import metrics
from notifyq.overview import view as overview
from notifyq.rest.docs import DocsView, SchemaView
from notifyq.rest.view import unknown_address

handler400 = "notifyq.rest.handlers.bad_request"
handler403 = "notifyq.rest.handlers.forbidden"
handler404 = "notifyq.rest.handlers.not_found"
handler500 = "notifyq.rest.handlers.server_error"

add_page(Page("overview/fresh/", "overview-fresh", overview.fresh, overview.PERMISSION))

urlpatterns: list[URLPattern | URLResolver] = [
    path("", TemplateView.as_view(template_name="landing.html"), name="landing"),
    path("admin/", admin.site.urls),
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("metrics", metrics, name="metrics"),
    path("api/schema/", SchemaView.as_view(), name="schema"),
    path("api/docs/", DocsView.as_view(url_name="schema"), name="docs"),
    path("api/v1/", include("notifications.api.urls")),
    path("api/v1/", include("webhooks.api.urls")),
    path("receipts/<str:provider>", ReceiveReceipts.as_view(), name="receipts"),
    # The two pages above are left to the redirect that adds their slash.
    re_path(r"^api/(?!(?:schema|docs)$)(?P<rest>.*)$", unknown_address),
]
