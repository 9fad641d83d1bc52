"""E-mail through any SMTP server.

SMTP neither drops repeats nor answers questions about a mail, so the adapter's one care is to know whether the final
dot may have reached the server: before it every failure is certain, after it only the server's reply is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar, Self

from notifications.channel import Channel
from notifications.errors import ConfigurationError
from notifications.providers.base import Capabilities, DuplicateHarm, Message, Provider, ProviderSettings
from notifications.providers.email.envelope import InvalidContentError, read_sender, sender_of
from notifications.providers.email.mailbox import Mailbox
from notifications.providers.email.mime import Mail, compose
from notifications.providers.email.smtp_pool import SessionPool
from notifications.providers.email.smtp_session import NotSentError, SmtpSession, StaleSessionError
from notifications.providers.email.smtp_settings import SmtpServer, parse_server_url
from notifications.providers.email.smtp_wire import Deadline
from notifications.providers.instance_settings import variable_prefix
from notifications.providers.setting_names import EMAIL_FROM, SettingNames
from notifications.verdict import Verdict

CAPABILITIES = Capabilities(duplicate_harm=DuplicateHarm.VISIBLE)


class SmtpProvider(Provider):
    """One SMTP account and the sender's mailbox; a client's own `smtp_url` and `email_from` go before them."""

    kind: ClassVar[str] = "smtp"
    channels: ClassVar[frozenset[Channel]] = frozenset({Channel.EMAIL})
    setting_names: ClassVar[SettingNames] = SettingNames({"URL": "smtp://user:password@host:587", **EMAIL_FROM})

    def __init__(self, name: str, server: SmtpServer, sender: Mailbox) -> None:
        super().__init__(name, CAPABILITIES)
        self._server = server
        self._sender = sender
        self._pool = SessionPool()

    @classmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        """Read SMTP_URL (for `smtp:label` SMTP_LABEL_URL; see `parse_server_url`) and EMAIL_FROM.

        Raises:
            ConfigurationError: one line that names the variable and repeats none of the URL.
        """
        variable = f"{variable_prefix(name)}_URL"
        try:
            server = parse_server_url(settings.url(variable, schemes=("smtp", "smtps")))
        except ValueError as error:
            raise ConfigurationError(f"NOTIFYQ_{variable} {error}") from None
        return cls(name, server, read_sender(settings))

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        """Hand the mail over once; see `Provider.send`.

        ACCEPTED is the server's 250 to the end of the data; the verdict's `provider_message_id` is the mail's
        Message-ID, `<notification id@sender's domain>`, which servers write into their logs.
        """
        deadline = Deadline.after(timeout_seconds)
        try:
            server, sender = self._account(message)
            mail = compose(message, sender)
            return self._deliver(server, mail, deadline, _private_texts(message, mail))
        except InvalidContentError as error:
            return Verdict.rejected(error.code, str(error))
        except NotSentError as failure:
            return failure.verdict

    def is_senders_own(self, sender: Mapping[str, str]) -> bool:
        return "smtp_url" in sender

    def close(self) -> None:
        self._pool.close()

    def _account(self, message: Message) -> tuple[SmtpServer, Mailbox]:
        server = self._server
        try:
            if url := message.sender.get("smtp_url"):
                server = _client_server(url)
        except ValueError as error:
            raise NotSentError(
                Verdict.provider_fault("client_smtp_url_invalid", f"the client's SMTP URL {error}")
            ) from None
        sender = sender_of(message, self._sender)
        if isinstance(sender, Verdict):
            raise NotSentError(sender)
        return server, sender

    def _deliver(self, server: SmtpServer, mail: Mail, deadline: Deadline, private: list[str]) -> Verdict:
        kept = self._pool.take(server)
        if kept is not None:
            try:
                return self._use(kept, mail, deadline, private)
            except StaleSessionError:
                pass  # ended while idle, and said or showed so before the mail was announced: begin anew, once
        return self._use(SmtpSession.open(server, deadline), mail, deadline, private)

    def _use(self, session: SmtpSession, mail: Mail, deadline: Deadline, private: list[str]) -> Verdict:
        try:
            return session.deliver(mail, deadline, private)
        except BaseException:
            session.abandon()  # broken off in a state that nobody knows
            raise
        finally:
            self._pool.put(session)


@lru_cache(maxsize=256)
def _client_server(url: str) -> SmtpServer:
    return parse_server_url(url, local_files=False)


def _private_texts(message: Message, mail: Mail) -> list[str]:
    recipient = mail.recipient
    names = [recipient.local, recipient.domain, recipient.address, mail.sender.address, message.recipient]
    return [*names, message.reply_to, message.from_name, message.subject, message.body, message.html_body]
