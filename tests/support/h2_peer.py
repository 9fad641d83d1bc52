"""The failing side of an HTTP/2 connection, on top of the one for raw sockets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded

from tests.support.fault_server import Peer, Script


@dataclass
class Request:
    """One complete request."""

    stream: int
    headers: dict[str, str]
    body: bytes = field(default=b"", repr=False)


class H2Peer:
    """Speaks HTTP/2 as a server does, as far as its script lets it."""

    def __init__(self, peer: Peer) -> None:
        self.raw = peer
        self.state = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.state.initiate_connection()
        self.flush()

    def read_request(self) -> Request | None:
        """Read one whole request and count it; None when the client has left."""
        request: Request | None = None
        while data := self.raw.receive():
            for event in self.state.receive_data(data):
                if isinstance(event, RequestReceived):
                    request = Request(event.stream_id, {str(k): str(v) for k, v in event.headers})
                elif isinstance(event, DataReceived) and request:
                    request.body += event.data
                    self.state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, StreamEnded) and request:
                    self.flush()
                    self.raw.count(request.body)
                    return request
            self.flush()
        return None

    def answer(
        self,
        request: Request,
        status: int,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        end: bool = True,
    ) -> None:
        self.state.send_headers(request.stream, [(":status", str(status)), *(headers or {}).items()])
        if body or end:
            self.state.send_data(request.stream, body, end_stream=end)
        self.flush()

    def flush(self) -> None:
        if data := self.state.data_to_send():
            self.raw.send(data)


def speaking(script: Callable[[H2Peer], None]) -> Script:
    """A script for a `FaultServer`."""
    return lambda peer: script(H2Peer(peer))
