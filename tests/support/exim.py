"""A real mail server, Exim, on a free loopback port, with everything it writes in a directory of its own."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
import time
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from tests.support.certificate import write_certificate

PACKAGED_USER = "Debian-exim"
USER, PASSWORD = "clerk", "open sesame"

CONFIGURATION = r"""
exim_user = {user}
exim_group = {group}
primary_hostname = exim.example
local_interfaces = 127.0.0.1
daemon_smtp_ports = {port}
spool_directory = {home}/spool
log_file_path = {home}/%slog
pid_file_path = {home}/exim.pid
keep_environment =
queue_only
message_size_limit = 100K
smtp_accept_queue_per_connection = 0
smtputf8_advertise_hosts = *
tls_advertise_hosts = *
tls_certificate = {certificate}
tls_privatekey = {key}
auth_advertise_hosts = ${{if eq{{$tls_in_cipher}}{{}}{{}}{{*}}}}
acl_smtp_mail = check_sender
acl_smtp_rcpt = check_recipient
acl_smtp_data = check_content

begin acl
check_sender:
  deny senders = suspended@acme.example
       message = 550 5.7.13 account is suspended
  accept

check_recipient:
  deny local_parts = unknown
       message = 550 5.1.1 <$local_part@$domain> is unknown here
  defer local_parts = greylisted
       message = 451 4.7.1 come back in a minute
  drop local_parts = dropped
       message = 550 5.7.1 go away, $local_part@$domain
  accept authenticated = *
  accept domains = shop.example : münchen.example : xn--mnchen-3ya.example
  deny message = relay not permitted

check_content:
  deny condition = ${{if match{{$h_subject:}}{{refuse}}}}
       message = 550 5.7.1 content refused: $h_subject:
  defer condition = ${{if match{{$h_subject:}}{{defer}}}}
       message = 451 4.3.0 not now
  accept

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${{if and{{{{eq{{$auth2}}{{{login}}}}}{{eq{{$auth3}}{{{password}}}}}}}}}
  server_set_id = $auth2
"""


class Exim:
    """Use as a context manager. It accepts mail into its queue and delivers nothing."""

    def __init__(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="exim-"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.certificate, key = write_certificate(self._home)
        self._configuration = self._home / "exim.conf"
        # Exim gives up root for its own user, and refuses a configuration that others could have written.
        account = pwd.getpwnam(PACKAGED_USER) if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        text = CONFIGURATION.format(
            user=account.pw_uid,
            group=account.pw_gid,
            port=self.port,
            home=self._home,
            certificate=self.certificate,
            key=key,
            login=USER,
            password=PASSWORD,
        )
        self._configuration.write_text(text)
        self._configuration.chmod(0o644)
        if os.geteuid() == 0:
            for path in (self._home, self.certificate, key):
                os.chown(path, account.pw_uid, account.pw_gid)

    def __enter__(self) -> Exim:
        with (self._home / "stderr").open("wb") as stderr:
            self._daemon = subprocess.Popen(
                self._command("-bdf"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr
            )
        self._wait_until_it_listens()
        return self

    def __exit__(self, *exc: object) -> None:
        self._daemon.terminate()
        self._daemon.wait(timeout=10)
        shutil.rmtree(self._home)

    def mails(self) -> list[EmailMessage]:
        """What is in the queue, oldest first. A mail is there before its 250 is sent."""
        listing = self._run("-bp").decode()
        ids = re.findall(r"^\s*\S+\s+\S+\s+([0-9A-Za-z]+-[0-9A-Za-z]+-[0-9A-Za-z]+)\s", listing, re.MULTILINE)
        return [message_from_bytes(self._run("-Mvc", i), policy=policy.default) for i in ids]

    def log(self) -> str:
        """Everything the daemon has logged; on standard error when it does not run as root."""
        files = [self._home / name for name in ("mainlog", "stderr")]
        return "".join(f.read_text(errors="replace") for f in files if f.exists())

    def _run(self, *arguments: str) -> bytes:
        return subprocess.run(self._command(*arguments), check=True, capture_output=True, timeout=20).stdout

    def _command(self, *arguments: str) -> list[str]:
        return [shutil.which("exim4", path="/usr/sbin:/usr/bin") or "exim4", "-C", str(self._configuration), *arguments]

    def _wait_until_it_listens(self) -> None:
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self._daemon.poll() is not None or time.monotonic() > end:
                    self._daemon.kill()
                    self._daemon.wait()
                    raise RuntimeError(f"exim did not start: {self.log()}") from None
                time.sleep(0.02)  # a listening socket cannot be awaited from outside
