"""Every address of the service."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, path

from notifyq import health
from notifyq.metrics_view import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("metrics", metrics, name="metrics"),
]
