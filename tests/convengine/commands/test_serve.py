import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from convengine.commands.management.commands.serve import make_servers, make_streams_server, refuse_demonstration


@pytest.fixture
def var(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installation whose environment names nothing."""
    settings.VAR_DIR = tmp_path
    settings.SECRET_KEY = "of the demonstration"
    for name in ("CE_SECRET_KEY", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_secret_of_the_demonstration_is_refused(var: Path) -> None:
    (var / "secret_key").write_text("of the demonstration\n")

    with pytest.raises(CommandError, match="CE_SECRET_KEY is not set"):
        refuse_demonstration()


def test_a_secret_that_cannot_be_read_is_not_that_of_the_demonstration(var: Path) -> None:
    (var / "secret_key").write_bytes(b"\xff")

    refuse_demonstration()


def test_the_database_of_the_demonstration_is_refused_unless_it_is_named(
    var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a demonstration, nothing is refused.
    refuse_demonstration()
    (var / "demo.json").write_text("{}")

    with pytest.raises(CommandError, match="DATABASE_URL is not set"):
        refuse_demonstration()
    monkeypatch.setenv("DATABASE_URL", "sqlite:///demo.sqlite3")
    refuse_demonstration()


def test_the_process_of_streams_leaves_the_servers_their_threads(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "THREADS": 4}
    before = dict(os.environ)
    usual, changed = (make_servers("127.0.0.1", 0, 1, threads) for threads in (4, 7))
    streams = make_streams_server("127.0.0.1", 0)
    try:
        # What all processes inherit has no number.
        assert dict(os.environ).get("CE_THREADS") == before.get("CE_THREADS")
        assert [child.environment.get("CE_THREADS") for child in (*usual, *changed, *streams)] == [None, "7", "1"]
        assert [child.environment.get("CE_TAKES_TURNS") for child in (*usual, *streams)] == [None, "false"]
    finally:
        for child in (*usual, *changed, *streams):
            child.sockets[0].close()
