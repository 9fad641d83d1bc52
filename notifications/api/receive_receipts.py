"""POST /receipts/{provider}: what providers report later. No key: each vendor's own signature is the key."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from notifications import services
from notifications.receipts import Call, Refused, Unreadable
from notifications.receipts.addresses import spellings
from notifications.receipts.base import Unavailable
from notifyq.rest.body_length import drain, hurry
from notifyq.rest.problem import Problem, not_found, too_long
from notifyq.rest.view import ApiView

_BODY_MAX_BYTES = 4 << 20


class ReceiveReceipts(ApiView):
    """Vendors go by the status of the answer: 200 is done, 4xx is not worth a repeat, 503 is."""

    authentication_classes = []
    permission_classes = []
    body_max_bytes: ClassVar[int] = _BODY_MAX_BYTES

    @extend_schema(exclude=True)
    def post(self, request: Request, provider: str) -> HttpResponse:
        """404 unless the provider's secrets stand in the settings; 403 and nothing stored without its signature."""
        receiver = services.receiver_of(provider)
        if receiver is None:
            raise not_found()
        call = _call(request, provider)
        try:
            services.receive(receiver, call)
        except Refused:
            raise Problem(403, "forbidden", "The signature is missing, wrong or too old. Nothing was stored.") from None
        except Unreadable:
            raise Problem(receiver.unreadable_status, "unreadable", "This is no callback of this provider.") from None
        except Unavailable:
            raise Problem(
                503, "unavailable", "It cannot be checked now. Please repeat it.", headers={"Retry-After": "5"}
            ) from None
        return HttpResponse(content_type="text/plain")  # Twilio reads XML out of anything else

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Whatever a vendor accepts: a 406 would make some of them stop."""
        return super().perform_content_negotiation(request, force=True)


def _call(request: Request, provider: str) -> Call:
    body = request.stream.read(_BODY_MAX_BYTES + 1) if request.stream else b""
    if len(body) > _BODY_MAX_BYTES:
        hurry(request._request)
        drain(request.stream)
        raise too_long(_BODY_MAX_BYTES)
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Call(spellings(_base(request), provider, request.META.get("QUERY_STRING", "")), headers, body)


def _base(request: Request) -> str:
    """What comes before `/receipts/` in the address that the vendor called. Behind a proxy only the settings know."""
    if settings.NOTIFYQ.receipts_url:
        return str(settings.NOTIFYQ.receipts_url)
    here = urlsplit(request.build_absolute_uri("/"))
    return f"{here.scheme}://{here.netloc}{request.META.get('SCRIPT_NAME', '')}"
