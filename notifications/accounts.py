"""Clients and their keys: made, shown once, checked, taken back."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets as random_secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import BooleanField, DateTimeField, ExpressionWrapper, Q, QuerySet
from django.db.models.functions import Now

from notifications import selectors
from notifications.channel import Channel
from notifications.errors import FieldError, InvalidRequest, NotFound, NotifyError
from notifications.models import ApiKey, Client
from notifications.models.client import Scope
from notifications.request import canonical_recipient
from notifications.request.fields import Invalid
from notifications.url_parts import split_url
from notifyq import secrets

log = logging.getLogger(__name__)

DEFAULT_SCOPES = (Scope.SEND, Scope.READ)
_PREFIX_LENGTH = 10
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # no 0/o and 1/l: prefixes are read out and typed
_SHAPE = re.compile(rf"(nq_[{_ALPHABET}]{{{_PREFIX_LENGTH}}})_[A-Za-z0-9_-]{{43}}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SMTP_SCHEMES = ("smtp", "smtps", "smtp+tls", "smtp+ssl")
_USED_GRAIN = timedelta(minutes=1)


class KeyRefused(NotifyError):
    """The key is unknown, expired, revoked, or its client is disabled. Which of them is not told."""


class KeyMadeAlready(NotifyError):
    """The form has made its key; no other was made.

    Attributes:
        api_key: the one that it made.
    """

    def __init__(self, api_key: ApiKey) -> None:
        self.api_key = api_key
        super().__init__(f"{api_key.prefix} was made by this form already")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made. `secret` is the whole key; it is nowhere stored and cannot be shown again."""

    api_key: ApiKey
    secret: str = field(repr=False)


def create_client(
    name: str, scopes: Sequence[str] = DEFAULT_SCOPES, *, smtp_url: str = "", email_from: str = ""
) -> tuple[Client, NewKey]:
    """A new client with its first key.

    Raises:
        InvalidRequest: the name is empty, too long or taken, or a scope is unknown.

    Transaction: both or neither.
    """
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidRequest([FieldError("name", "invalid", "must be 1 to 100 printable characters")])
    sender = {"smtp_url_encrypted": _sealed(smtp_url), "email_from": _sender_address(email_from)}
    try:
        with transaction.atomic():
            client = Client.objects.create(name=name, **sender)
            return client, create_key(client, scopes)
    except IntegrityError:
        raise InvalidRequest([FieldError("name", "taken", f"{name!r} is taken by another client")]) from None


def create_key(
    client: Client,
    scopes: Sequence[str] = DEFAULT_SCOPES,
    *,
    expires_in: timedelta | None = None,
    by: str = "command",
    form_id: UUID | None = None,
) -> NewKey:
    """A further key of the client. The secret has 256 random bits.

    Args:
        by: who makes it, for the log.
        form_id: of the form that asks for it; the same form makes no second one.

    Raises:
        InvalidRequest: no scope, or an unknown one.
        KeyMadeAlready: by the same form.

    Transaction: the caller's, or one of its own.
    """
    chosen = list(dict.fromkeys(scopes))
    if not chosen or not set(chosen) <= set(Scope.values):
        raise InvalidRequest([FieldError("scopes", "invalid", f"must be some of {', '.join(Scope.values)}")])
    prefix = "nq_" + "".join(random_secrets.choice(_ALPHABET) for _ in range(_PREFIX_LENGTH))
    secret = f"{prefix}_{random_secrets.token_urlsafe(32)}"
    expires_at = selectors.database_now() + expires_in if expires_in is not None else None
    columns = {"client": client, "prefix": prefix, "key_hash": _hash(secret), "scopes": chosen}
    try:
        with transaction.atomic():
            key = ApiKey.objects.create(**columns, expires_at=expires_at, form_id=form_id)
    except IntegrityError:
        made = ApiKey.objects.filter(form_id=form_id).first() if form_id else None
        if made is None:
            raise
        raise KeyMadeAlready(made) from None
    log.warning("key_created", extra={"prefix": prefix, "client_id": str(client.pk), "scopes": chosen, "by": by})
    return NewKey(key, secret)


def set_sender(client: Client, *, smtp_url: str | None = None, email_from: str | None = None) -> None:
    """Change the client's own relay and sender address; an empty string removes, None leaves as it is.

    Raises:
        InvalidRequest: not a relay's URL, or not a mailbox address.
    """
    changes: dict[str, str] = {}
    if smtp_url is not None:
        changes["smtp_url_encrypted"] = _sealed(smtp_url)
    if email_from is not None:
        changes["email_from"] = _sender_address(email_from)
    if changes:
        Client.objects.filter(pk=client.pk).update(**changes)


def find_client(name_or_id: str) -> Client:
    """A client by its name or its id.

    Raises:
        NotFound: there is none.
    """
    found = Client.objects.filter(name=name_or_id).first()
    if found is None and _UUID.fullmatch(name_or_id):
        found = Client.objects.filter(pk=name_or_id).first()
    if found is None:
        raise NotFound(f"there is no client called {name_or_id!r}")
    return found


def list_keys() -> QuerySet[ApiKey]:
    """All keys with their clients, by client and age."""
    return ApiKey.objects.select_related("client").order_by("client__name", "created_at", "pk")


def revoke_key(prefix: str, *, by: str = "command") -> ApiKey:
    """Refuse the key from now on. Safe to repeat; the first revocation's time stays.

    Args:
        prefix: the public beginning, with or without `nq_`.
        by: who does it, for the log.

    Raises:
        NotFound: there is no such key.
    """
    full = prefix if prefix.startswith("nq_") else f"nq_{prefix}"
    end_key(full, by=by)
    key = ApiKey.objects.select_related("client").filter(prefix=full).first()
    if key is None:
        raise NotFound("there is no key with this prefix")
    return key


def end_key(prefix: str, *, by: str) -> bool:
    """The same by the whole prefix. Returns whether this call did it."""
    is_ended = ApiKey.objects.filter(prefix=prefix, revoked_at=None).update(revoked_at=Now()) == 1
    if is_ended:
        log.warning("key_revoked", extra={"prefix": prefix, "by": by})
    return is_ended


def authenticate(secret: str) -> ApiKey:
    """The key (its client loaded) that this secret is.

    Raises:
        KeyRefused: unknown, expired, revoked, or its client is disabled.
    """
    match = _SHAPE.fullmatch(secret)
    found = _usable().filter(prefix=match[1]).first() if match else None
    # Compared in constant time, also when there is nothing to compare with.
    same = hmac.compare_digest(bytes(found.key_hash) if found else bytes(32), _hash(secret))
    if found is None or not same:
        raise KeyRefused("the key is not valid")
    _note_use(found)
    return found


def _usable() -> QuerySet[ApiKey]:
    unexpired = Q(expires_at=None) | Q(expires_at__gt=Now())
    enabled = Q(client__disabled_at=None) | Q(client__disabled_at__gt=Now())
    unrevoked = Q(revoked_at=None) | Q(revoked_at__gt=Now())
    keys = ApiKey.objects.select_related("client").filter(unexpired & enabled & unrevoked)
    return keys.annotate(use_is_due=ExpressionWrapper(_use_is_due(), output_field=BooleanField()))


def _note_use(key: ApiKey) -> None:
    """Once a minute, and never by waiting: whoever finds the row locked leaves it to the one that holds it."""
    if not getattr(key, "use_is_due", False):
        return
    with transaction.atomic():
        free = ApiKey.objects.filter(pk=key.pk).select_for_update(skip_locked=True, no_key=True)
        if list(free.values_list("pk")):
            ApiKey.objects.filter(_use_is_due(), pk=key.pk).update(last_used_at=Now())


def _use_is_due() -> Q:
    before = ExpressionWrapper(Now() - _USED_GRAIN, output_field=DateTimeField())
    return Q(last_used_at=None) | Q(last_used_at__lt=before)


def state(key: ApiKey) -> str:
    """`active`, `revoked`, `expired` or `client disabled`, for people to read."""
    now = selectors.database_now()
    if key.revoked_at is not None and key.revoked_at <= now:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "expired"
    if key.client.disabled_at is not None and key.client.disabled_at <= now:
        return "client disabled"
    return "active"


def _sealed(smtp_url: str) -> str:
    """Checked and encrypted; the address is not repeated in an error, since it may hold a password."""
    if not smtp_url:
        return ""
    if split_url(smtp_url, _SMTP_SCHEMES) is None:
        message = f"must be a URL with a host that begins with {', '.join(s + '://' for s in _SMTP_SCHEMES)}"
        raise InvalidRequest([FieldError("smtp_url", "invalid", message)])
    return secrets.encrypt(smtp_url)


def _sender_address(email_from: str) -> str:
    if not email_from:
        return ""
    try:
        return canonical_recipient(Channel.EMAIL, email_from)
    except Invalid as problem:
        raise InvalidRequest([FieldError("email_from", problem.code, problem.message)]) from None


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
