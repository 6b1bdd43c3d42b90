"""The tests that the two demonstrations ship pass on their configurations."""

from pathlib import Path

import pytest
from django.core.management import call_command

from config_admin.commands.management.commands.demo import TESTS
from config_admin.test_cases.runs import SelectedTests, create_run, test_runs
from config_admin.test_cases.transfer import import_files
from convengine.server.interfaces.configuration import ConfigurationName
from tests.browser.bicycle_workshop import BUNDLE

pytestmark = pytest.mark.django_db


def check_tests(folder: Path) -> None:
    report = import_files([(file.name, file.read_bytes()) for file in sorted(folder.glob("*.yaml"))], editor="demo")
    assert (len(report.added) > 2, report.refused) == (True, [])
    run = create_run(ConfigurationName("live"), SelectedTests(), "demo")
    test_runs.run(run.pk)
    run.refresh_from_db()
    failures = [(each.test_case.name, each.failures) for each in run.results.filter(passed=False)]
    assert (run.status, run.passed, failures) == ("DONE", len(report.added), [])


def test_those_of_the_help_desk(helpdesk: object) -> None:
    check_tests(TESTS)


def test_those_of_the_bicycle_workshop() -> None:
    call_command("config_import", str(BUNDLE), "--apply", verbosity=0)
    check_tests(BUNDLE.parent / "bicycle_workshop_tests")
