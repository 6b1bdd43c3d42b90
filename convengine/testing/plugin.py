"""The pytest plugin: the fixture `bot`, the marker `bot`, and scenario files as tests (docs/scenarios.md)."""

import os
import sys
import tomllib
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from convengine.testing.bot import Bot

#: Lines of the explanation that a failed test shows, from its last turns.
_TURNS_EXPLAINED = 2
_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_database_key = pytest.StashKey["_TestDatabase"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The settings of a project, in `[tool.pytest.ini_options]`."""
    parser.addini("convengine_configuration", "The configuration of the fixture bot, a file.", default="")
    parser.addini("convengine_extensions", "Modules that register extensions, as in CE_EXTENSIONS.", "args", [])
    parser.addini("convengine_scenarios", "Files and folders of scenarios that pytest runs.", "args", [])
    parser.addini("convengine_recording", "The file with recorded answers of a model.", default="")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before anything reads Django's settings: what a test needs and the environment does not say."""
    if extensions := early_config.getini("convengine_extensions"):
        os.environ.setdefault("CE_EXTENSIONS", ",".join(extensions))
    if early_config.getini("convengine_configuration") or early_config.getini("convengine_scenarios"):
        os.environ.setdefault("CE_SECRET_KEY", "only-for-tests")
        if module := _read_settings_module(early_config.rootpath):
            os.environ.setdefault("DJANGO_SETTINGS_MODULE", module)


def _read_settings_module(folder: Path) -> str:
    """The settings that a project of `convengine init` names in its pyproject.toml; blank for none."""
    file = folder / "pyproject.toml"
    tables: Any = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    settings = tables.get("tool", {}).get("convengine", {}).get("settings", "")
    return str(settings)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and the place of the database."""
    config.addinivalue_line(
        "markers",
        "bot(configuration, rows, extensions, recording): the bot of this test: a configuration file, rows to add, "
        "`real` extensions or `stubs` alone, and recorded answers of a model",
    )
    config.stash[_database_key] = _TestDatabase(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the database."""
    # Another plugin may have refused the run before there was one.
    if database := config.stash.get(_database_key, None):
        database.close()


@pytest.fixture
def bot(request: pytest.FixtureRequest) -> "Iterator[Bot]":
    """The bot of the project's configuration, or of the marker `bot`: `bot.say("hello").expect(intent="GREETING")`."""
    config = request.config
    marker = request.node.get_closest_marker("bot")
    arguments = dict(marker.kwargs) if marker else {}
    named = arguments.pop("configuration", marker.args[0] if marker and marker.args else None)
    recording = arguments.pop("recording", None) or config.getini("convengine_recording")
    default = config.getini("convengine_configuration")
    configuration = request.path.parent / named if named else config.rootpath / default if default else None
    if configuration is None and "rows" not in arguments:
        raise pytest.UsageError(
            "The fixture bot needs a configuration: set convengine_configuration in [tool.pytest.ini_options], or mark "
            'the test with @pytest.mark.bot(configuration="FILE").'
        )
    with config.stash[_database_key].use():
        from convengine.testing.bot import open_bot

        with open_bot(configuration, recording=config.rootpath / recording if recording else None, **arguments) as bot:
            yield bot


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> "Generator[None, Any, Any]":
    """Below a failed test with a bot: what happened in its last turns and why."""
    report = yield
    bot: Any = getattr(item, "funcargs", {}).get("bot")
    # A project may have a fixture of this name that is something else.
    kind = sys.modules.get("convengine.testing.bot")
    if report.when == "call" and report.failed and kind and isinstance(bot, kind.Bot):
        for turn in bot.turns[-_TURNS_EXPLAINED:]:
            if (explanation := turn.explain()) and explanation.splitlines()[-1] not in report.longreprtext:
                report.sections.append((f"the turn of {turn.message!r}", explanation))
    return report


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ScenarioFile | None":
    """The scenario files of the setting `convengine_scenarios`."""
    if file_path.suffix not in _SUFFIXES:
        return None
    config = parent.config
    chosen = [(config.rootpath / name).resolve() for name in config.getini("convengine_scenarios")]
    resolved = file_path.resolve()
    if not any(resolved == path or path in resolved.parents for path in chosen):
        return None
    from convengine.play.loading import is_scenario

    return ScenarioFile.from_parent(parent, path=file_path) if is_scenario(file_path) else None


class ScenarioFile(pytest.File):
    """A scenario file: one test."""

    def collect(self) -> "Iterable[ScenarioItem]":
        yield ScenarioItem.from_parent(self, name=self.path.stem)


class ScenarioFailed(Exception):
    """A scenario failed; the message has the failures and the explanations."""


class ScenarioItem(pytest.Item):
    """The test of a scenario file."""

    def runtest(self) -> None:
        with self.config.stash[_database_key].use():
            from convengine.play.report_format import format_explanations, format_line
            from convengine.play.runner import FAILED, SKIPPED, run

            report = run(self.path)
            if report.outcome == SKIPPED:
                pytest.skip(report.reason)
            if report.outcome == FAILED:
                raise ScenarioFailed("\n".join([format_line(report), *format_explanations(report)]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, ScenarioFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"scenario {self.name}"


class _TestDatabase:
    """One scratch database for all tests of a run, made when the first one asks."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._stack = ExitStack()
        self._url = ""

    @contextmanager
    def use(self) -> Iterator[None]:
        """Use the database in a test; Django is set up first if nobody else did it."""
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")
        import django
        from django.apps import apps

        if not apps.ready:
            django.setup()
        from convengine.play import database

        with _unblock_database(self._config):
            if not self._url:
                self._url = self._stack.enter_context(database.make_scratch_database())
            with database.use_database(self._url), database.allow_emptying():
                yield

    def close(self) -> None:
        self._stack.close()


def _unblock_database(config: pytest.Config) -> AbstractContextManager[None]:
    """Leave to use a database, where pytest-django refuses it to tests without its marker."""
    try:
        from pytest_django.plugin import blocking_manager_key
    except ImportError:
        return nullcontext()
    blocker = config.stash.get(blocking_manager_key, None)
    return blocker.unblock() if blocker is not None else nullcontext()
