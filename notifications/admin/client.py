"""Producers and their keys. Neither a key's hash nor an SMTP password is ever shown."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from notifications.admin.keys import MakesKeys
from notifications.models import ApiKey, Client
from notifyq.console import ReadOnlyAdmin, ReadOnlyInline, badge

KEY_FIELDS = ("prefix", "state", "scope_names", "created_at", "expires_at", "revoked_at", "last_used_at")


class KeyState:
    """Columns of a key that are worked out."""

    @admin.display(description="state")
    def state(self, key: ApiKey) -> SafeString:
        if key.revoked_at:
            return badge("revoked", "quiet")
        if key.expires_at and key.expires_at <= timezone.now():
            return badge("expired", "quiet")
        return badge("valid", "good")

    @admin.display(description="scopes")
    def scope_names(self, key: ApiKey) -> str:
        return ", ".join(key.scopes)


class ApiKeyInline(ReadOnlyInline, KeyState, admin.TabularInline):  # type: ignore[type-arg]
    model = ApiKey
    fields = readonly_fields = KEY_FIELDS


@admin.register(Client)
class ClientAdmin(ReadOnlyAdmin):
    list_display = ("name", "state", "email_from", "own_relay", "created_at")
    search_fields = ("name",)
    fields = ("id", "name", "state", "email_from", "own_relay", "created_at", "disabled_at")
    readonly_fields = ("state", "own_relay")
    inlines = (ApiKeyInline,)

    @admin.display(description="state")
    def state(self, client: Client) -> SafeString:
        disabled = client.disabled_at and client.disabled_at <= timezone.now()
        return badge("disabled", "bad") if disabled else badge("enabled", "good")

    @admin.display(description="SMTP relay")
    def own_relay(self, client: Client) -> str:
        return "its own" if client.smtp_url_encrypted else "the service's"


@admin.register(ApiKey)
class ApiKeyAdmin(KeyState, MakesKeys, ReadOnlyAdmin):
    list_display = ("prefix", "client", *KEY_FIELDS[1:])
    list_select_related = ("client",)
    list_filter = ("client",)
    search_fields = ("prefix",)
    fields = ("id", "client", *KEY_FIELDS)
    readonly_fields = ("state", "scope_names")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        rows: QuerySet[ApiKey] = super().get_queryset(request).defer("key_hash")
        return rows
