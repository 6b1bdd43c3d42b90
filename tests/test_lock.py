"""The locks say what pyproject.toml says, and name no host."""

from pathlib import Path

import pytest

from tests.lock import EXTRAS, ROOT, compile_lock


@pytest.mark.long
@pytest.mark.parametrize("name", EXTRAS)
def test_a_lock_is_what_compiling_gives(name: str, tmp_path: Path) -> None:
    copy = tmp_path / name
    copy.write_text((ROOT / name).read_text())

    assert compile_lock(name, copy) == (ROOT / name).read_text()


def list_pinned(name: str) -> list[str]:
    lines = (ROOT / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith((" ", "#"))]


def test_who_develops_has_all_that_the_product_runs_on() -> None:
    """`make setup-dev` installs one lock only."""
    # What pulls a package in may say where it is needed.
    runtime, production, develop = ({line.split()[0] for line in list_pinned(name)} for name in EXTRAS)

    assert runtime < production < develop


def test_what_is_served_has_nothing_that_only_tests_need() -> None:
    assert not [line for line in list_pinned("requirements-production.lock") if "pgserver" in line or "pytest" in line]


@pytest.mark.parametrize("library", ["openpyxl", "pyyaml"])
def test_files_that_pages_offer_are_read_wherever_the_product_runs(library: str) -> None:
    for name in EXTRAS:
        assert any(line.startswith(f"{library}==") for line in list_pinned(name)), name


@pytest.mark.parametrize("name", EXTRAS)
def test_a_lock_names_no_host_and_hashes_everything(name: str) -> None:
    lines = (ROOT / name).read_text().splitlines()
    pinned = list_pinned(name)

    assert not [line for line in lines if "://" in line]
    assert all("==" in line for line in pinned)
    assert len(pinned) <= sum("--hash=" in line for line in lines)
