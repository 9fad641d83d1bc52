"""Identifiers."""

from uuid import UUID

from uuid_utils import compat


def uuid7() -> UUID:
    """A time-ordered UUID (RFC 9562, version 7): new rows stand at the end of every index that ends in the id."""
    return compat.uuid7()
