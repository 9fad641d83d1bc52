"""What docs/receipts.md has a newcomer paste, in a shell, against the API of this process."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import Any

import pytest

from notifications import receipts
from notifications.models import Notification
from notifications.status import Status
from notifyq.env import Environment
from tests.support.api import Caller
from tests.support.factories import ApiKeyFactory
from tests.support.source import ROOT

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]
SECTION = "Trying it on your own machine"


def blocks() -> list[str]:
    page = (ROOT / "docs" / "receipts.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {SECTION}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def paste(text: str, **variables: str) -> str:
    """What bash prints; any command that fails fails the test."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        env={"PATH": os.environ["PATH"], "NO_PROXY": "127.0.0.1", **variables},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "curl", "openssl"))), reason="needs bash, curl and openssl")
def test_page__what_it_has_a_newcomer_paste__ends_as_it_says(live_server: Any, settings: Any) -> None:
    start, send, report = blocks()
    secret = re.fullmatch(r"(NOTIFYQ_SANDBOX_RECEIPT_SECRETS)=(\S+) make up\n", start)
    assert secret is not None
    settings.RECEIVERS = receipts.build((), Environment({secret[1]: secret[2]}))
    key = Caller(ApiKeyFactory()).key.secret
    asked, place = (
        "NOTIFYQ=http://127.0.0.1:8000 KEY=$(cat .data/demo_api_key)\n",
        {"NOTIFYQ": live_server.url, "KEY": key},
    )
    assert asked in send
    made = paste(send.replace(asked, "").replace("sleep 2\n", 'echo "$ID"\n'), **place).strip()
    # The workers that `make up` starts do it while the page waits.
    sent = {"status": Status.SENT, "provider": "sandbox", "last_used_provider": "sandbox", "attempt_count": 1}
    assert Notification.objects.filter(pk=made).update(**sent, finished_at="2030-01-31T08:00:00Z") == 1

    told = paste(report, **place, ID=made)

    assert told.splitlines()[0] == "200"
    assert '"deliveryStatus": "BOUNCED"' in told
    assert paste(report, **place, ID=made) == told  # pasted again
    assert Notification.objects.get(pk=made).receipts.count() == 1
    forged = report.replace('-d "$BODY"', '-d "$BODY "')
    assert '"status":403' in paste(forged, **place, ID=made).replace(": ", ":")
