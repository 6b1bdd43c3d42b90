"""Work is handed to a worker where there is a broker that can be reached, and done here otherwise."""

from typing import Any

import pytest

from convengine.server.deployment import conf
from convengine.server.jobs import worker
from convengine.server.jobs.processes import hand_over


def with_broker(settings: Any, url: str) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "BROKER_URL": url}


@pytest.mark.parametrize("url", ["", "embedded"])
def test_without_a_broker_nothing_is_handed_over(url: str, settings: Any) -> None:
    with_broker(settings, url)

    assert not hand_over("summaries", "a", 1)


def test_with_one_it_gets_name_and_arguments(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with_broker(settings, "redis://localhost:1/0")
    sent: list[Any] = []
    monkeypatch.setattr(worker.do, "apply_async", lambda args, **options: sent.append((args, options)))

    assert hand_over("summaries", "a", 1)
    assert sent == [(["summaries", "a", 1], {"retry": False})]


@pytest.mark.long
def test_one_that_is_out_of_reach_takes_nothing(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with_broker(settings, "redis://localhost:1/0")
    monkeypatch.setattr(worker.app.conf, "broker_url", "redis://localhost:1/0")

    assert not hand_over("summaries", "a", 1)


def test_what_is_handed_over_is_done_by_its_name(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "HANDED_WORK": {"sum": "builtins.print"}}
    done: list[Any] = []
    monkeypatch.setattr(conf, "import_from_path", lambda path: lambda *args: done.append((path, args)))

    worker.do("sum", 1, 2)

    assert done == [("builtins.print", (1, 2))]


@pytest.mark.parametrize("path", conf.DEFAULTS["HANDED_WORK"].values())
def test_every_name_leads_somewhere(path: str) -> None:
    assert callable(conf.import_from_path(path))
