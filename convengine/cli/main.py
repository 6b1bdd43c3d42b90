"""Find the project, name its settings, and hand the command to Django."""

import gc
import os
import re
import secrets
import select
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from convengine.cli.commands import BY_WORDS, COMMANDS, Command, load_management_command, map_management_commands
from convengine.engine.text.wording import did_you_mean
from convengine.server.deployment.folders import (
    FIND_PROJECT,
    SECRET_FILE,
    demo_extension,
    describe_version,
    find_shipped,
    is_project,
    project_folder,
    read_project,
)

SETTINGS = "convengine.settings"
#: Variables that the shell may have of a project, and that its demonstration does not use.
_OF_PROJECT = (
    "DATABASE_URL", "CE_SECRET_KEY", "CE_BROKER_URL", "CE_BUS_URL", "CE_STREAMS_URL", "CE_TOOL_DATABASE_URLS",
    "CE_HTTP_CONNECTIONS",
)  # fmt: skip
#: What every command of Django has, and what nobody needs to read in the help of ours.
_DJANGO_OPTIONS = {
    "--version", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color", "--force-color",
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command in the project of the current folder; gives the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] in (["--version"], ["version"]):
        print(f"convengine {describe_version()}")
        return 0
    command, rest = _find_command(given)
    if command is None:
        return _describe_or_refuse(given)
    if command.words != "init":
        use_project(command)
    is_help = {"-h", "--help"} & set(rest) and command.words not in ("init", "doctor")
    checks_file = rest[:1] == ["audit_verify"] and "--evidence" in {word.partition("=")[0] for word in rest}
    if is_help or checks_file:
        # Neither help nor the check of an evidence file needs an installation.
        os.environ.setdefault("CE_SECRET_KEY", secrets.token_urlsafe(48))
    return _run_command(command, rest)


def run_in_django_project(given: Sequence[str]) -> int:
    """Run one command, or a management command by its own name, with the settings in use; gives the exit status."""
    command, rest = _find_command(given)
    if command:
        return _run_command(command, rest)
    names = sorted(map_management_commands())
    return run_management(given, given[0]) if given and given[0] in names else _describe_or_refuse(given, names)


def _describe_or_refuse(given: Sequence[str], management: Sequence[str] = ()) -> int:
    """`management`: the management commands that run under their own names, too."""
    if not given or given[0] in ("help", "-h", "--help"):
        print(describe_commands())
        if others := sorted({*management} - {command.management for command in COMMANDS}):
            print(f"Further commands: {', '.join(others)}.")
        return 0
    if parts := [words for words in BY_WORDS if words.startswith(f"{given[0]} ")]:
        refusal = f"Write one of: {', '.join(f'convengine {words}' for words in parts)}."
    else:
        hint = did_you_mean(given[0], [*(words.split()[0] for words in BY_WORDS), *management])
        refusal = f"convengine has no command {given[0]!r}.{hint} `convengine help` lists all commands."
    print(refusal, file=sys.stderr)
    return 2


def _run_command(command: Command, rest: Sequence[str]) -> int:
    if command.words == "init":
        from convengine.cli.new_project import init

        return init(list(rest))
    if command.words == "doctor":
        from convengine.cli.doctor import print_report

        return print_report(rest)
    if command.words == "evaluate":
        from convengine.cli.evaluate import evaluate_corpus, needs_project

        if not needs_project(rest):
            return _run_printing(lambda: evaluate_corpus(rest))
    if command.words == "import":
        rest = [_find_file(word) for word in rest]
    return run_management([command.management, *rest] if command.management else rest, command.words)


def describe_commands() -> str:
    width = max(len(command.words) for command in COMMANDS)
    lines = [f"  {command.words:<{width}}  {command.help}" for command in COMMANDS]
    return "\n".join(
        ["usage: convengine COMMAND …", "", *lines, "", "`convengine COMMAND --help` lists the options of a command."]
    )


def use_project(command: Command | None = None) -> Path:
    """Let this process and its children use the project of the current folder, and return its folder.

    `demo` inside a project has data of its own, and outside of a project makes its own secret.
    """
    folder = project_folder()
    project = read_project(folder)
    os.environ.setdefault("CE_PROJECT_DIR", str(folder))
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(folder) not in inherited:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, inherited)])
    is_demo = command is not None and command.words == "demo"
    if is_demo and project is not None:
        # The demonstration uses nothing of the project: not its `.env`, database, broker, code or settings.
        data = str(folder / "var" / "demo")
        os.environ |= {
            "CE_PROJECT_DIR": data,
            "CE_VAR_DIR": data,
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "CE_EXTENSIONS": demo_extension(),
            **dict.fromkeys(_OF_PROJECT, ""),
        }
        project_folder.cache_clear()
        project = None
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", (project or {}).get("settings", SETTINGS))
    if command and command.plays_conversations:
        os.environ.setdefault("CE_LOG_LEVEL", "WARNING")
    if is_demo:
        os.environ.setdefault("CE_EXTENSIONS", demo_extension())
        if not os.environ.get("CE_SECRET_KEY"):
            make_secret(Path(os.environ.get("CE_VAR_DIR") or folder / "var") / SECRET_FILE)
    return folder


def make_secret(file: Path) -> None:
    """The demonstration's secret, made at its first start."""
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(f"{secrets.token_urlsafe(48)}\n")


def run_management(arguments: Sequence[str], words: str = "") -> int:
    """Run a management command. Settings that cannot be used give a few lines instead of a traceback.

    `words`: the command as it was typed, for its help and its errors.
    """
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import CommandError, ManagementUtility
    from django.core.management.base import SystemCheckError
    from django.db import OperationalError, ProgrammingError

    def execute(run: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Django would print the name of the exception's class before its message."""
        try:
            return run(*arguments, **options)
        except CommandError as error:
            if options.get("traceback") or isinstance(error, SystemCheckError):
                raise
            print(f"convengine {words}: {error}", file=sys.stderr)
            sys.exit(error.returncode)

    class NamedUtility(ManagementUtility):
        """Help and errors of a command show what was typed: `convengine test`, not the name below it."""

        def fetch_command(self, subcommand: str) -> Any:
            command: Any = load_management_command(subcommand) or super().fetch_command(subcommand)
            if words:
                typed = f"manage {subcommand}" if words == "manage" else words
                command.create_parser = partial(_create_parser, command.create_parser, typed)
            if words not in ("", "manage"):
                command.suppressed_base_arguments = _DJANGO_OPTIONS
                command.execute = partial(execute, command.execute)
            return command

    # What is imported is no garbage, and collecting takes a third of a start. `convengine.server.apps` ends this.
    gc.disable()
    try:
        _run_printing(NamedUtility([sys.argv[0], *arguments]).execute)
    except (ImproperlyConfigured, OperationalError, ProgrammingError, ModuleNotFoundError) as problem:
        if not (lines := _explain_start(problem)):
            raise
        print("\n".join(lines), file=sys.stderr)
        return 1
    finally:
        gc.enable()
    return 0


def _explain_start(problem: Exception) -> list[str]:
    """Why nothing could start, and the remedy; empty for a fault of the product."""
    from django.core.exceptions import ImproperlyConfigured

    settings = os.environ["DJANGO_SETTINGS_MODULE"]
    if isinstance(problem, ImproperlyConfigured):
        from convengine.server.deployment.environment import describe_misspelt

        lines = [f"Cannot start: {problem}"]
        # In a folder without a project there is no `.env`, so the secret is what is missing first.
        if "CE_SECRET_KEY" in str(problem) and not is_project(project_folder()):
            lines.append(f"There is no project in {project_folder()} or above it. {FIND_PROJECT}")
        return lines + describe_misspelt()
    if isinstance(problem, ModuleNotFoundError):
        is_missing = problem.name == settings.partition(".")[0]
        return [f"Cannot start: the settings {settings} do not exist."] if is_missing else []
    if re.search(r"no such table|relation .* does not exist", str(problem)):
        return ["The database has no tables of this version yet. Run `convengine manage migrate`."]
    return []


def _run_printing(run: Callable[[], int | None]) -> int:
    """Run what prints, and give its exit status: 0 when nobody reads the output any more."""
    try:
        return run() or 0
    except BrokenPipeError:
        # Other pipes and connections break, too.
        poll = select.poll()
        poll.register(sys.stdout, 0)
        if not poll.poll(0):
            raise
        return 0
    finally:
        # Not at the end of the process, where nothing catches the error, and without hiding how the command ended.
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader of the output closed it, as `head` does.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _create_parser(create: Callable[..., Any], typed: str, prog_name: str, subcommand: str, **options: Any) -> Any:
    return create("convengine", typed, **options)


def _find_command(given: Sequence[str]) -> tuple[Command | None, list[str]]:
    """The command, of one word or two, and its arguments."""
    for count in (2, 1):
        if command := BY_WORDS.get(" ".join(given[:count])):
            return command, list(given[count:])
    return None, []


def _find_file(word: str) -> str:
    """A file that the package ships, such as `bicycle_workshop.json`, by its name, unless there is one here."""
    file = find_shipped("fixtures") / word
    return str(file) if word.endswith(".json") and not Path(word).exists() and file.is_file() else word
