"""Recorded turns of the demonstration's conversations, saved as scenario files, pass when they are played."""

import inspect
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection, transaction

from audit.export.scenario.document import build_passing_scenario
from audit.export.scenario.recorded_turns import NotExportable
from convengine.play.loading import dump_yaml
from convengine.server.extensions.registry import Registry
from convengine.server.sessions.models import CeConversation
from tests.api import Caller, make_key
from tests.demo import test_conversations, test_customers
from tests.demo.conftest import ROOT, install_helpdesk, load_rows

pytestmark = pytest.mark.django_db
#: What a test of the demonstration may want and gets here.
FIXTURES = {"customer", "settings"}


@dataclass
class Saved:
    """The files of some conversations, by name, and why others were refused."""

    files: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)

    def save(self, conversation: CeConversation, name: str, first: int | None = None, last: int | None = None) -> None:
        try:
            self.files[name] = dump_yaml(build_passing_scenario(conversation, first, last, named=name))
        except NotExportable as refusal:
            self.refusals[name] = str(refusal)

    def play(self, folder: Path, names: list[str]) -> list[str]:
        """The lines of the scenarios that do not pass."""
        folder = folder / "files"
        folder.mkdir()
        for name in names:
            (folder / f"{name}.yaml").write_text(self.files[name], encoding="utf-8")
        command = [sys.executable, "manage.py", "scenarios", str(folder)]
        environment = {**os.environ, "CE_EXTENSIONS": "fixtures.demo.helpdesk"}
        played = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True)
        *lines, totals = played.stdout.splitlines()
        assert totals.startswith(f"{len(names)} passed") or lines, played.stderr
        return [line for line in lines if not line.startswith("passed")]


def iterate_tests(module: ModuleType) -> Iterator[tuple[str, Callable[..., None], dict[str, Any]]]:
    """Each test of a module that talks to the demonstration, with each of its parameters."""
    for name, test in vars(module).items():
        if not name.startswith("test_") or not inspect.isfunction(test):
            continue
        marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
        choices = [[_bind(mark.args[0], values) for values in mark.args[1]] for mark in marks]
        wanted = set(inspect.signature(test).parameters)
        for number, chosen in enumerate(product(*choices)):
            arguments = {key: value for values in chosen for key, value in values.items()}
            if wanted - arguments.keys() <= FIXTURES:
                yield f"{module.__name__.split('_')[-1]}-{name.removeprefix('test_')[:40]}-{number}", test, arguments


def _bind(names: Any, values: Any) -> dict[str, Any]:
    keys = names.split(",") if isinstance(names, str) else names
    return dict(zip(keys, values if len(keys) > 1 else [values], strict=True))


TESTS = [test for module in (test_conversations, test_customers) for test in iterate_tests(module)]


@pytest.fixture
def saved(own_code: Registry, tmp_path: Path, settings: Any) -> Iterator[Callable[..., Saved]]:
    """Plays tests of the demonstration, and saves each of their turns, or their conversations."""

    def save(tests: list[Any], *, whole: bool = False) -> Saved:
        saved, configured = Saved(), settings.CONVENGINE
        for name, test, arguments in tests:
            folder = tmp_path / name
            folder.mkdir()
            others = {
                "customer": lambda: Caller(make_key(scopes=["turns", "audit", "approve"])),
                "settings": lambda: settings,
            }
            given = {key: make() for key, make in others.items() if key in inspect.signature(test).parameters}
            # What the test does is taken back: the next one finds the rows as they were loaded.
            attempt = transaction.atomic()
            attempt._from_testcase = True  # type: ignore[attr-defined]
            with attempt, install_helpdesk(folder, django_settings):
                # Whether the answers are right is for the test itself.
                with suppress(AssertionError):
                    test(**arguments, **given)
                for conversation in CeConversation.objects.order_by("created_at"):
                    label = f"{name}-{str(conversation.pk)[:8]}"
                    for turn_no in conversation.turns.values_list("turn_no", flat=True) if not whole else ():
                        saved.save(conversation, f"{label}-{turn_no}", turn_no, turn_no)
                    if whole:
                        saved.save(conversation, label)
                transaction.set_rollback(True)
            settings.CONVENGINE = configured
        return saved

    with pytest.MonkeyPatch.context() as patched:
        # Tasks close connections, which would end the transaction that the rows are in.
        patched.setattr(connection, "close", lambda: None)
        load_rows()
        yield save


@pytest.mark.nightly
def test_some_turns_of_the_demonstration_pass_as_files(saved: Callable[..., Saved], tmp_path: Path) -> None:
    chance = random.Random(17)
    recorded = saved(chance.sample(TESTS, 4))
    names = chance.sample(sorted(recorded.files), 4)

    assert recorded.refusals == {}
    assert recorded.play(tmp_path, names) == []


@pytest.mark.nightly
def test_200_turns_of_the_demonstration_pass_as_files_or_are_refused(
    saved: Callable[..., Saved], tmp_path: Path
) -> None:
    recorded = saved(TESTS)
    names = random.Random(200).sample(sorted({*recorded.files, *recorded.refusals}), 200)

    refused = [recorded.refusals[name] for name in names if name in recorded.refusals]
    assert len(refused) <= len(names) / 20, refused
    assert recorded.play(tmp_path, [name for name in names if name in recorded.files]) == []


@pytest.mark.nightly
def test_whole_conversations_of_the_demonstration_pass_as_files(saved: Callable[..., Saved], tmp_path: Path) -> None:
    recorded = saved(TESTS, whole=True)

    assert recorded.refusals == {}
    assert recorded.play(tmp_path, sorted(recorded.files)) == []
