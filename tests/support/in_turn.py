"""A peer that gives one prepared answer after the other, to test adapters that make several requests."""

from __future__ import annotations

from tests.support.fault_server import Peer, Script


def in_turn(*answers: bytes) -> Script:
    """Answer the first request with the first, and so on, over any number of connections; then say nothing."""
    left = list(answers)

    def script(peer: Peer) -> None:
        while peer.read_request():
            if not left:
                peer.wait_until_gone()
                return
            peer.send(left.pop(0))

    return script
