"""Real processes: they end by themselves, whatever is read in them."""

import io
import os
import time
import zipfile
from collections.abc import Callable

import pytest

from convengine.files import Unreadable, apart
from convengine.files.apart import always_apart, read_apart

LARGE = b"x" * 100_000


def find_process(data: bytes) -> int:
    return os.getpid()


def refuse(data: bytes) -> None:
    raise Unreadable("is strange.", 7)


def run_for_ever(data: bytes) -> None:
    while True:
        pass


def fill_memory(data: bytes) -> int:
    return len([b"x" * 1_000_000 for _ in range(4_000)])


def die(data: bytes) -> None:
    os._exit(9)


def test_only_a_large_file_is_read_in_a_process_of_its_own() -> None:
    assert read_apart(b"x", find_process, b"x") == os.getpid()
    assert read_apart(LARGE, find_process, LARGE) != os.getpid()


@pytest.mark.parametrize("before", [b"", b"%PDF", b"x" * 1000])
def test_an_archive_is_as_large_as_what_it_unpacks_to(before: bytes) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"x" * 2_000_000)
    data = before + file.getvalue()

    assert read_apart(data, find_process, data) != os.getpid()


@always_apart
def find_process_apart(data: bytes) -> int:
    return os.getpid()


def test_no_file_is_small_for_a_function_that_is_always_apart() -> None:
    assert read_apart(b"x", find_process_apart, b"x") != os.getpid()


def test_a_refusal_keeps_its_line() -> None:
    with pytest.raises(Unreadable, match=r"is strange\.") as refused:
        read_apart(LARGE, refuse, LARGE)

    assert refused.value.line == 7


@pytest.mark.parametrize("read", [run_for_ever, fill_memory, die])
def test_what_takes_too_long_or_too_much_ends_with_a_remedy(
    read: Callable[[bytes], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "_PATIENCE", 15)
    began = time.monotonic()

    with pytest.raises(Unreadable, match="Split it"):
        read_apart(LARGE, read, LARGE)

    assert time.monotonic() - began < 60
