"""The sandbox provider as a command: killed, told to end, started where it cannot."""

import signal
import socket

import pytest

from tests.support.sandbox import PATIENT_SECONDS, SandboxProcess, run_command

pytestmark = pytest.mark.processes


def test_kill__with_messages_and_weather__forgets_nothing(tmp_path):
    with SandboxProcess(tmp_path / "store.sqlite3") as sandbox:
        sandbox.set_weather(latencyMs=1, idempotency=True)
        ids = [sandbox.post(key=f"k-{n}").json()["messageId"] for n in range(20)]
        sandbox.post("temporary-twice@example.org", key="twice")
        sandbox.kill()
        sandbox.start()

        assert [m["messageId"] for m in sandbox.messages()] == ids
        assert sandbox.stats() == (21, 20, 0)
        assert sandbox.get("/behaviour")["latencyMs"] == 1
        assert sandbox.post(key="k-7").json()["messageId"] == ids[7]
        assert [sandbox.post("temporary-twice@example.org", key="twice").status_code for _ in range(2)] == [503, 202]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal__while_a_client_hangs__ends_in_good_order(tmp_path, number):
    with SandboxProcess(tmp_path / "store.sqlite3") as sandbox:
        with socket.create_connection(("127.0.0.1", sandbox.port)) as hanging:
            body = b'{"channel": "EMAIL", "recipient": "hang@x.y", "body": ""}'
            head = f"POST /messages HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: {len(body)}\r\n\r\n"
            hanging.sendall(head.encode() + body)
            sandbox.post()

            assert sandbox.stop(number) == 0
        assert sandbox.process.communicate()[1] == ""


def test_command__port_taken__says_so_in_one_line(tmp_path):
    with SandboxProcess(tmp_path / "store.sqlite3") as sandbox:
        second = run_command("--port", str(sandbox.port), "--store", str(tmp_path / "other.sqlite3"))
        _, errors = second.communicate(timeout=PATIENT_SECONDS)

    assert second.returncode == 1
    assert len(errors.strip().splitlines()) == 1
    assert str(sandbox.port) in errors


def test_command__store_is_something_else__says_so_in_one_line(tmp_path):
    store = tmp_path / "notes.txt"
    store.write_text("these are my notes, which nobody should write over " * 50)
    command = run_command("--port", "0", "--store", str(store))
    _, errors = command.communicate(timeout=PATIENT_SECONDS)

    assert command.returncode == 1
    assert len(errors.strip().splitlines()) == 1
    assert "notes.txt" in errors
