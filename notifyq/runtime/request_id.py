"""The id of the request that is being answered, for whoever writes a log line meanwhile."""

from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")
