"""One SMTP session: log in, then hand over mail after mail, always knowing whether the final dot may have left.

`smtplib` is not used: it raises the same `SMTPServerDisconnected` before and after the dot, and its timeout counts per
line, so that a server which drips its answer holds the caller for as long as it likes.
"""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl
import time
from collections.abc import Iterable

from notifications.providers.email.mime import Mail
from notifications.providers.email.smtp_replies import Phase, account_secrets, refusal
from notifications.providers.email.smtp_settings import SmtpServer, Tls
from notifications.providers.email.smtp_wire import Deadline, GarbledReplyError, Reply, Wire, connect, tls_context
from notifications.verdict import Verdict

# The reply to EHLO of a server that only knows HELO (RFC 5321 §4.1.1.1, §4.2.4).
_NO_EHLO = frozenset({500, 502, 504})


class NotSentError(Exception):
    """The attempt ended before the final dot; `verdict` says how."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(verdict.error_code)


class StaleSessionError(Exception):
    """A kept session had ended while it lay idle. Nothing of the mail was sent; a new session may be tried."""


class SmtpSession:
    """A session after its login. Not for several threads at once.

    Attributes:
        server: whom it is with.
        usable: whether another mail may be handed over.
        mail_count: mails begun.
        idle_since: monotonic time of its last use.
    """

    def __init__(self, server: SmtpServer, wire: Wire) -> None:
        self.server = server
        self.usable = True
        self.mail_count = 0
        self.idle_since = time.monotonic()
        self._wire = wire
        self._offers: dict[str, str] = {}
        self._needs_reset = False
        self._secrets = account_secrets(server.username, server.password)
        self._private: list[str] = self._secrets

    @classmethod
    def open(cls, server: SmtpServer, deadline: Deadline) -> SmtpSession:
        """Connect, greet, encrypt and log in as the server's settings say.

        Raises:
            NotSentError: TEMPORARY or PROVIDER_FAULT.
        """
        session = cls(server, Wire(_connected(server, deadline), deadline))
        try:
            session._start()
        except (OSError, GarbledReplyError) as error:
            session.abandon()
            raise NotSentError(_before_end(error)) from error
        except NotSentError:
            session.quit()
            raise
        return session

    def deliver(self, mail: Mail, deadline: Deadline, private: Iterable[str]) -> Verdict:
        """Hand over one mail, once.

        Args:
            private: texts of the message, to be kept out of the verdict.

        Raises:
            StaleSessionError: only from a session that was used before.
        """
        self._wire.deadline = deadline
        self._private = [*self._secrets, *private]
        self.mail_count += 1
        try:
            self._announce(mail)
            self._send_content(mail.content)
        except NotSentError as failure:
            return failure.verdict
        except (OSError, GarbledReplyError) as error:
            self.abandon()
            return _before_end(error)
        return self._finish(mail)

    def is_quiet(self) -> bool:
        """Whether an idle session is still open and has nothing to say. Does not block."""
        try:
            self._wire.check_nothing_early()
        except (OSError, GarbledReplyError):
            return False
        return True

    def quit(self, wait_seconds: float = 0.0) -> None:
        """Say goodbye and close. Never fails; waits at most `wait_seconds` for the server's own goodbye."""
        if self.usable:
            self._wire.deadline = Deadline.after(max(wait_seconds, 0.05))
            with contextlib.suppress(OSError, GarbledReplyError):
                self._wire.send(b"QUIT\r\n")
                if wait_seconds > 0:
                    self._wire.read_reply()
        self.abandon()

    def abandon(self) -> None:
        """Close without a word."""
        self.usable = False
        self._wire.close()

    # --- from the connection to the login

    def _start(self) -> None:
        if self.server.tls is Tls.IMPLICIT:
            self._encrypt(verify=True)
        self._expect(self._wire.read_reply(), Phase.GREETING, 2)
        self._hello()
        if self.server.tls in (Tls.REQUIRED, Tls.OPPORTUNISTIC):
            self._upgrade(required=self.server.tls is Tls.REQUIRED)
        if self.server.username:
            self._log_in()

    def _hello(self) -> None:
        name = _own_name(self._wire.local_host)
        reply = self._command(f"EHLO {name}")
        if reply.code in _NO_EHLO:
            reply = self._command(f"HELO {name}")
        self._expect(reply, Phase.HELLO, 2)
        lines = (line.upper().partition(" ") for line in reply.lines[1:])
        self._offers = {keyword: value for keyword, _, value in lines}

    def _upgrade(self, *, required: bool) -> None:
        if "STARTTLS" not in self._offers:
            if required:
                raise NotSentError(Verdict.provider_fault("starttls_not_offered", "the server offers no encryption"))
            return
        reply = self._command("STARTTLS")
        if reply.kind == 2 or required:
            self._expect(reply, Phase.STARTTLS, 2)
            self._encrypt(verify=required)
            self._hello()  # what was offered in clear counts no longer (RFC 3207 §4.2)

    def _encrypt(self, *, verify: bool) -> None:
        try:
            context = tls_context(self.server.ca_file, verify=verify)
        except OSError as error:
            raise NotSentError(Verdict.provider_fault("ca_file_unusable", "the cafile cannot be loaded")) from error
        try:
            self._wire.start_tls(context, self.server.host)
        except ssl.SSLCertVerificationError as error:
            reason = f"the server's certificate is not trusted: {error.verify_message}"
            raise NotSentError(Verdict.provider_fault("tls_not_trusted", reason)) from error
        except ssl.SSLError as error:
            raise NotSentError(Verdict.temporary("tls_failed", "the TLS handshake failed")) from error

    def _log_in(self) -> None:
        mechanisms = self._offers.get("AUTH", "").split()
        user, password = self.server.username, self.server.password
        if "PLAIN" in mechanisms:
            reply = self._command(f"AUTH PLAIN {_base64(f'{chr(0)}{user}{chr(0)}{password}')}")
        elif "LOGIN" in mechanisms:
            reply = self._command("AUTH LOGIN")
            for answer in (user, password):
                self._expect(reply, Phase.AUTH, 3)
                reply = self._command(_base64(answer))
        else:
            raise NotSentError(
                Verdict.provider_fault("auth_not_offered", "the server offers neither AUTH PLAIN nor LOGIN")
            )
        self._expect(reply, Phase.AUTH, 2)

    # --- one mail

    def _announce(self, mail: Mail) -> None:
        if mail.needs_smtputf8 and "SMTPUTF8" not in self._offers:
            raise NotSentError(_needs_smtputf8(mail))
        self._expect(self._first_reply(f"MAIL FROM:<{mail.sender.address}>{self._parameters(mail)}"), Phase.MAIL, 2)
        self._expect(self._command(f"RCPT TO:<{mail.recipient.address}>"), Phase.RCPT, 2)
        self._expect(self._command("DATA"), Phase.DATA, 3)

    def _first_reply(self, command: str) -> Reply:
        """The reply to the first command of a mail, which shows whether a kept session is still one."""
        if self.mail_count == 1:
            return self._command(command)
        deadline = self._wire.deadline
        self._wire.deadline = deadline.share(2)  # leaves time for a new session when this one hangs
        try:
            if self._needs_reset:
                self._expect(self._command("RSET"), Phase.RESET, 2)
                self._needs_reset = False
            reply = self._command(command)
        except (OSError, GarbledReplyError, NotSentError) as error:
            self.abandon()
            raise StaleSessionError from error
        if reply.code == 421:  # what a server says when it ends a session that idled too long
            self.abandon()
            raise StaleSessionError
        self._wire.deadline = deadline
        return reply

    def _parameters(self, mail: Mail) -> str:
        size = f" SIZE={len(mail.content)}" if "SIZE" in self._offers else ""
        return size + (" BODY=8BITMIME SMTPUTF8" if mail.needs_smtputf8 else "")

    def _send_content(self, content: bytes) -> None:
        """Everything but the final dot: as long as that has not left, the server cannot have taken the mail."""
        self._wire.send(content)
        try:
            self._wire.check_nothing_early()
        except GarbledReplyError:
            # The server gave up while it was reading; a mail is not taken before its dot, whatever it says.
            reply = self._wire.read_reply()
            self.abandon()
            raise NotSentError(refusal(reply, Phase.CONTENT, self._private)) from None

    def _finish(self, mail: Mail) -> Verdict:
        """The final dot and its answer. From its first byte on, silence and loss are UNCONFIRMED."""
        try:
            self._wire.send(b".\r\n")
            reply = self._wire.read_reply()
        except TimeoutError:
            self.abandon()
            return Verdict.unconfirmed("answer_timeout", "the mail went out and no answer came in time")
        except OSError:
            self.abandon()
            return Verdict.unconfirmed("answer_lost", "the connection was lost after the mail had gone out")
        except GarbledReplyError:
            self.abandon()
            return Verdict.unconfirmed("answer_unclear", "the mail went out and the answer was not SMTP")
        if reply.code == 250:
            return Verdict.accepted(mail.message_id)
        if reply.code == 421 or reply.kind not in (4, 5):
            self.abandon()
        return refusal(reply, Phase.END, self._private)

    def _command(self, line: str) -> Reply:
        self._wire.check_nothing_early()
        self._wire.send(line.encode() + b"\r\n")
        return self._wire.read_reply()

    def _expect(self, reply: Reply, phase: Phase, kind: int) -> None:
        if reply.kind == kind:
            return
        self._needs_reset = True
        if reply.code == 421 or reply.kind not in (4, 5):
            self.abandon()
        raise NotSentError(refusal(reply, phase, self._private))


def _connected(server: SmtpServer, deadline: Deadline) -> socket.socket:
    try:
        return connect(server.host, server.port, deadline)
    except socket.gaierror as error:
        raise NotSentError(Verdict.temporary("dns_failed", "the server's name has no address")) from error
    except TimeoutError as error:
        raise NotSentError(Verdict.temporary("connect_timeout", "the server could not be reached in time")) from error
    except ConnectionRefusedError as error:
        raise NotSentError(Verdict.temporary("connect_refused", "the server refused the connection")) from error
    except OSError as error:
        raise NotSentError(Verdict.temporary("connect_failed", "the server could not be reached")) from error


def _before_end(error: Exception) -> Verdict:
    if isinstance(error, TimeoutError):
        return Verdict.temporary("timeout_before_end", "no answer in time; the mail had not gone out")
    if isinstance(error, GarbledReplyError):
        return Verdict.temporary("garbled_reply_before_end", f"{error}; the mail had not gone out")
    return Verdict.temporary("connection_lost_before_end", "the connection was lost; the mail had not gone out")


def _needs_smtputf8(mail: Mail) -> Verdict:
    reason = "the server does not offer SMTPUTF8, which an address with non-ASCII letters before the @ needs"
    if mail.sender.needs_smtputf8:
        return Verdict.provider_fault("sender_needs_smtputf8", reason)
    return Verdict.rejected("smtputf8_not_offered", reason)


def _own_name(local_host: str) -> str:
    """Our name for EHLO: the machine's where it is a full one, else the address (RFC 5321 §4.1.3). Asks no DNS."""
    name = socket.gethostname()
    if "." in name and name.isascii() and name.replace("-", "").replace(".", "").isalnum():
        return name
    return f"[IPv6:{local_host}]" if ":" in local_host else f"[{local_host}]"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")
