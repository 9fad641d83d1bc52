"""`manage.py up` from an empty data directory to nothing left running."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from django.core.management import get_commands

from notifications.channel import Channel
from notifyq.embedded import url_of
from tests.contracts.conformance import answering, http_answer
from tests.support.embedded_users import ROOT, answers, clean_environment, remove
from tests.support.fault_server import FaultServer
from tests.support.waiting import wait_until

TO_TRY = {
    ("DEAD_LETTERED", None): 4,
    ("FAILED", None): 2,
    ("PENDING", "SCHEDULED"): 3,
    ("PENDING", "RATE_LIMITED"): 2,
    ("SENT", None): 19,
}

pytestmark = [
    pytest.mark.processes,
    pytest.mark.xdist_group("up"),
    pytest.mark.timeout(300),  # two starts of everything there is, on a machine that may have much else to do
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for left processes in /proc"),
    pytest.mark.skipif("create_client" not in get_commands(), reason="there is no create_client command yet"),
]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("up") / "data dir"
    yield directory
    remove(directory)


class Up:
    """A running `manage.py up`."""

    def __init__(self, data_dir: Path, *arguments: str, **variables: str) -> None:
        self.data_dir = data_dir
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up", *arguments],
            cwd=ROOT,
            env=clean_environment() | {"NOTIFYQ_DATA_DIR": str(data_dir)} | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def text_until(self, last: str) -> str:
        """What it printed up to the line that contains `last`."""
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if last in line:
                return "".join(lines)
        pytest.fail("ended early:\n" + "".join(lines))

    def rest(self) -> str:
        return self.process.communicate(timeout=100)[0]

    def close(self) -> None:
        """End it and everything of its kind; only needed when a test failed."""
        for pid in [self.process.pid, *processes_of(self.data_dir)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.communicate(timeout=30)


@pytest.fixture
def up(data_dir: Path) -> Iterator[Up]:
    running = Up(data_dir, "--port", any_port())
    yield running
    running.close()


@pytest.fixture
def bare_up(data_dir: Path) -> Iterator[Up]:
    """One that leaves the database empty, so that the start of another test is the first one."""
    running = Up(data_dir, "--port", any_port(), "--no-demo")
    yield running
    running.close()


def any_port() -> str:
    """A free one that no other run of these tests is likely to choose at the same time."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])


def processes_of(data_dir: Path, command: str = "") -> list[int]:
    """Processes started with this data directory in their environment and `command` in their arguments."""
    mark = f"NOTIFYQ_DATA_DIR={data_dir}\0".encode()
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (place / "environ").read_bytes() and command.encode() in (place / "cmdline").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue
    return found


def shown(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, text
    return match[1]


def pasted(text: str) -> int:
    """The status that the request it prints gets, taken word for word."""
    words = shlex.split(text[text.index("curl ") :].replace("\\\n", " ").partition("\n")[0])
    headers = dict(words[i + 1].split(": ", 1) for i, word in enumerate(words) if word == "-H")
    assert [word for word in words if word.startswith("-") and word not in ("-H", "-d")] == ["-sS"], words
    assert len(words) == 3 + 2 * len(headers) + 2, words
    return requests.post(words[2], data=words[words.index("-d") + 1], headers=headers, timeout=10).status_code


def listed(api: str, key: str) -> list[dict[str, Any]]:
    address = f"{api}/api/v1/notifications?limit=200"
    answer = requests.get(address, headers={"Authorization": f"Bearer {key}"}, timeout=10)
    rows: list[dict[str, Any]] = answer.json()["results"]
    return rows


def assert_there_is_something_to_try(api: str, key: str, hooks: str) -> None:
    """Whatever the first start sends for the console has come to where it is to be found."""

    def arrived() -> bool:
        rows = Counter((row["status"], row["waitingReason"]) for row in listed(api, key))
        return rows >= Counter(TO_TRY) and rows["PENDING", None] == rows["PROCESSING", None] == 0

    wait_until(arrived, 30, "what there is to try is where it belongs")
    wait_until(lambda: "DEAD_LETTERED" in requests.get(hooks, timeout=10).text, 30, "the webhooks are told")


def test_up__started_twice_on_one_directory__delivers_and_leaves_nothing_running(up: Up, data_dir: Path) -> None:
    text = up.text_until("Ctrl-C stops everything")
    assert len(re.findall(r"SENT after \d+ ms", text)) == 4, text
    assert "{" not in text.replace('{"channel"', "")  # its logs are in a file
    api = shown(r"API docs +(http://[^/]+)/api/docs/", text)
    sandbox = shown(r"Sandbox +(http://[^/]+)/ ", text)
    key, password = shown(r"Bearer (\S+)'", text), shown(r"operator / (\S+)", text)
    firsts = [row for row in listed(api, key) if row["reference"] is None]
    assert sorted((row["channel"], row["status"]) for row in firsts) == sorted((c, "SENT") for c in Channel)
    arrived = [m["key"] for m in requests.get(f"{sandbox}/messages", timeout=10).json()["messages"]]
    assert all(arrived.count(row["id"]) == 1 for row in firsts if row["channel"] != Channel.IN_APP)
    assert [pasted(text), pasted(text)] == [201, 200]  # a repeat sends nothing again
    assert_there_is_something_to_try(api, key, shown(r"Webhooks +(http://\S+)", text))
    assert {file.stat().st_mode & 0o777 for file in data_dir.glob("*_*") if file.is_file()} == {0o600}

    second = subprocess.run(
        [sys.executable, "manage.py", "up"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
        env=clean_environment() | {"NOTIFYQ_DATA_DIR": str(data_dir)},
    )  # fmt: skip
    assert second.returncode == 2
    assert "is running already" in second.stderr

    up.process.send_signal(signal.SIGTERM)
    assert "Everything is stopped" in up.rest()
    assert up.process.returncode == 0
    assert_nothing_runs(data_dir)

    vendor = FaultServer(answering(http_answer(202, X_Message_Id="m")))
    with vendor:
        again = Up(data_dir, "--port", any_port(), **to_sendgrid(vendor))
        assert_leftovers_are_cancelled(again, key, password)
    assert vendor.requests == []
    assert_nothing_runs(data_dir)


def to_sendgrid(vendor: FaultServer) -> dict[str, str]:
    return {
        "NOTIFYQ_EMAIL_PROVIDERS": "sendgrid,sandbox",
        "NOTIFYQ_SENDGRID_API_KEY": "k",
        "NOTIFYQ_SENDGRID_URL": vendor.url,
        "NOTIFYQ_EMAIL_FROM": "shop@example.com",
    }


def assert_leftovers_are_cancelled(again: Up, key: str, password: str) -> None:
    """E-mail now goes to a real provider, and four of the demo still wait: for a time, and for the rate limit."""
    try:
        text = again.text_until("Ctrl-C stops everything")
        assert "4 of its waiting notifications cancelled, now that EMAIL goes to sendgrid" in text
        assert "Try the console" not in text
        assert shown(r"Bearer (\S+)'", text) == key
        assert shown(r"operator / (\S+)", text) == password
    finally:
        again.process.send_signal(signal.SIGINT)
        again.rest()
        again.close()


def test_up__workers_die__says_so_and_stops_the_rest(bare_up: Up, data_dir: Path) -> None:
    bare_up.text_until("Ready")
    (supervisor,) = [pid for pid in processes_of(data_dir, "run_workers") if os.getsid(pid) == pid]
    os.kill(supervisor, signal.SIGKILL)
    assert "workers was ended by SIGKILL" in bare_up.rest()
    assert bare_up.process.returncode == 1
    assert_nothing_runs(data_dir)


def test_up__killed__leaves_nothing_running(bare_up: Up, data_dir: Path) -> None:
    bare_up.text_until("Ready")
    assert processes_of(data_dir, "run_workers")
    bare_up.process.kill()
    bare_up.process.wait(30)
    wait_until(lambda: processes_of(data_dir) == [], 40, "everything has ended")
    assert_nothing_runs(data_dir)


def test_up__port_asked_for_is_taken__one_line_and_nothing_started(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = Up(data_dir, "--port", port)
        text = refused.rest()
    assert refused.process.returncode == 2
    assert text == f"notifyq: port {port} is taken; name another with --port, or none\n"
    assert_nothing_runs(data_dir)


def test_up__provider_without_its_settings__one_line_and_nothing_started(data_dir: Path) -> None:
    refused = Up(data_dir, NOTIFYQ_EMAIL_PROVIDERS="smtp")
    text = refused.rest()
    assert refused.process.returncode == 2
    (line,) = text.splitlines()
    assert line.startswith("notifyq: NOTIFYQ_SMTP_URL (such as smtp://user:password@host:587) and NOTIFYQ_EMAIL_FROM")
    assert "are not set; they are needed because EMAIL goes through smtp" in line
    assert_nothing_runs(data_dir)


def assert_nothing_runs(data_dir: Path) -> None:
    assert processes_of(data_dir) == []
    url = url_of(data_dir)
    assert url is not None
    assert not answers(url)
