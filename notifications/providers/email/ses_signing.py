"""Signs requests to Amazon SES with botocore, and leaves the sending to us: one attempt, one deadline.

boto3 itself bounds each read and write but not the call, and its clients repeat a request that may have been acted on.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future
from typing import Any

from notifications.errors import ConfigurationError
from notifications.verdict import Verdict

# At DEBUG it writes the header with the session token.
logging.getLogger("botocore").setLevel(logging.WARNING)


class Signer:
    """Signature version 4 with credentials that may have to be renewed. For many threads at once."""

    def __init__(self, credentials: Any, region: str) -> None:
        self._credentials = credentials
        self._region = region

    def headers(self, url: str, body: bytes, *, timeout_seconds: float) -> dict[str, str] | Verdict:
        """The headers of a POST of `body` (JSON), or the verdict where there are no credentials to be had in time."""
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            credentials = self._present(timeout_seconds)
        except TimeoutError:
            return Verdict.temporary("credentials_timeout", "the credentials were not renewed in time")
        except (BotoCoreError, ClientError, OSError, RuntimeError):
            return Verdict.provider_fault("credentials_unavailable", "the credentials cannot be renewed")
        request = AWSRequest("POST", url, {"Content-Type": "application/json"}, body)
        SigV4Auth(credentials, "ses", self._region).add_auth(request)
        return dict(request.headers.items())

    def _present(self, timeout_seconds: float) -> Any:
        """Renewing asks other services, with time limits of their own, so it is done in a thread that can be left."""
        if not getattr(self._credentials, "refresh_needed", lambda: False)():
            return self._credentials.get_frozen_credentials()
        future: Future[Any] = Future()
        threading.Thread(target=self._renew, args=(future,), name="ses-credentials", daemon=True).start()
        return future.result(timeout_seconds)

    def _renew(self, future: Future[Any]) -> None:
        try:
            future.set_result(self._credentials.get_frozen_credentials())
        except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
            future.set_exception(error)


def find_signer(name: str, region: str, key: tuple[str, str] | None) -> Signer:
    """The signer of the provider instance `name`.

    Args:
        key: access key id and secret; None to look where boto3 looks (environment, files, the machine's role).

    Raises:
        ConfigurationError: boto3 is not installed, or finds no credentials.
    """
    try:
        import boto3
        from botocore.credentials import Credentials
        from botocore.exceptions import BotoCoreError
    except ImportError:
        raise ConfigurationError(
            f"provider {name!r} needs boto3: install the extra ses (pip install -e '.[ses]')"
        ) from None
    if key:
        return Signer(Credentials(*key), region)
    try:
        found = boto3.Session(region_name=region).get_credentials()
    except BotoCoreError as error:
        raise ConfigurationError(f"provider {name!r}: boto3 finds no credentials ({type(error).__name__})") from None
    if found is None:
        raise ConfigurationError(f"provider {name!r} has no access key, and boto3 finds no credentials either")
    return Signer(found, region)
