"""Standard output that cannot be written to: its reader has gone, or the disk behind it is full."""

import os
import subprocess
import sys

import pytest

from kumitate.cli.app import run

SIGPIPE = 141  # what a shell reports of a process that a broken pipe ended


def without_reader() -> int:
    """The end of a pipe that nobody reads, as `| head -1` leaves it."""
    read, write = os.pipe()
    os.close(read)
    return write


def not_writable() -> int:
    """What no byte can be written to, as when the disk is full."""
    return os.open(os.devnull, os.O_RDONLY)


def ran(place: int, *arguments: str) -> tuple[int, str]:
    """The exit code and standard error of a process that writes there."""
    command = [sys.executable, "-m", "kumitate", *arguments]
    answer = subprocess.run(command, stdout=place, stderr=subprocess.PIPE, text=True, timeout=100)
    os.close(place)
    return answer.returncode, answer.stderr


@pytest.fixture
def to(monkeypatch):
    """Sends standard output of this process somewhere."""

    def send(place: int) -> None:
        monkeypatch.setattr(sys, "stdout", os.fdopen(place, "w"))

    return send


LONG, SHORT = ["info", "pa10", "--json"], ["version"]
TABLES, WRONG = ["info", "pendulum"], ["info", "nothing", "--json"]


def test_a_reader_that_goes_ends_the_process_quietly():
    assert ran(without_reader(), *TABLES) == (SIGPIPE, "")


@pytest.mark.parametrize("arguments", [LONG, SHORT, TABLES])
def test_a_reader_that_goes_ends_every_command_quietly(to, capfd, arguments):
    to(without_reader())
    assert run(arguments) == SIGPIPE
    assert capfd.readouterr().err == ""


def test_a_full_disk_is_one_line():
    code, errors = ran(not_writable(), *LONG)
    assert code == 1
    assert errors == "error: standard output: Bad file descriptor\n"


@pytest.mark.parametrize("arguments", [LONG, SHORT, TABLES])
def test_a_full_disk_is_one_line_of_every_command(to, capfd, arguments):
    to(not_writable())
    assert run(arguments) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert "Bad file descriptor" in line


@pytest.mark.parametrize("place", [without_reader, not_writable])
def test_an_error_that_cannot_be_printed_is_still_told(to, capfd, place):
    to(place())
    assert run(WRONG) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "there is no sample 'nothing'" in line


def test_messages_that_cannot_be_printed_stop_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", os.fdopen(not_writable(), "w", buffering=1))
    assert run(["check", "pendulum"]) == 0
    assert run(WRONG) == 1
