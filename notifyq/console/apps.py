"""Makes the console Django's admin site."""

from django.contrib.admin.apps import AdminConfig


class ConsoleConfig(AdminConfig):
    default_site = "notifyq.console.site.ConsoleSite"
