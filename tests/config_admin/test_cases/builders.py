"""Tests and runs, made quickly."""

from typing import Any

from config_admin.test_cases.documents import store_test
from config_admin.test_cases.models import CeTestCase, CeTestRun
from config_admin.test_cases.runs import SelectedTests, create_run, test_runs
from convengine.json_value import Json
from convengine.server.interfaces.configuration import ConfigurationName


def make_test(
    title: str = "Hours are told", *turns: Json, tags: tuple[str, ...] = (), folder: str = "", **more: Json
) -> CeTestCase:
    """A stored test; without turns it asks the help desk for its hours."""
    given = turns or ({"user": "hours", "expect": {"intent": "HOURS"}},)
    return store_test({"title": title, "covers": list(tags), "turns": list(given), **more}, editor="ada", folder=folder)


def run_tests(configuration: str = "live", **selection: Any) -> CeTestRun:
    """A run that is done."""
    run = create_run(ConfigurationName.parse(configuration), SelectedTests(**selection), "ada")
    test_runs.run(run.pk)
    run.refresh_from_db()
    return run
