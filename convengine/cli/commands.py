"""All commands of `convengine`, and the management commands that do the work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convengine.server.deployment.folders import COMMAND_APPS


@dataclass(frozen=True)
class Command:
    """One command: its words, what it does, and what runs it."""

    words: str
    help: str
    #: The management command; blank for commands that run without Django's settings.
    management: str = ""
    #: It plays conversations in the terminal, so the log shows only warnings, unless `CE_LOG_LEVEL` is set.
    plays_conversations: bool = False


COMMANDS: Sequence[Command] = (
    Command("init", "Make a project of your own in a new folder: init NAME."),
    Command("demo", "Serve the demonstration, a help desk.", "demo"),
    Command("serve", "Serve the project: API, admin, manual, jobs.", "serve"),
    Command(
        "test", "Play scenario files; without a path the folder `scenarios`.", "scenarios", plays_conversations=True
    ),
    Command("key create", "Make an API key and print it once.", "api_key_create"),
    Command("user create", "Make a user of the admin.", "user_create"),
    Command("import", "Show what a configuration file would change; import it with --apply.", "config_import"),
    Command("export", "Write the configuration to a file.", "config_export"),
    Command("apply", "Apply a file of rows, webhooks, keys, documents and more; --plan shows it.", "apply"),
    Command("come-over", "Show what a bot of Rasa or Dialogflow becomes here; make a draft with --apply.", "come_over"),
    Command("draft", "Make, list, review, publish, schedule and discard drafts.", "draft"),
    Command("gradual", "Show the gradual release; stop it, or give it to more or to all.", "gradual"),
    Command(
        "evaluate",
        "Measure how well messages are understood: evaluate FILE…; without a file, by the phrases.",
        "evaluate",
        plays_conversations=True,
    ),
    Command("check", "Check the configuration in force.", "config_check"),
    Command("doctor", "Say what is set, what is missing and what is wrong."),
    Command("manage", "Any command of Django: manage migrate, manage shell, …"),
)
BY_WORDS: Mapping[str, Command] = {command.words: command for command in COMMANDS}


def load_management_command(name: str) -> Any:
    from django.core.management import load_command_class

    app = map_management_commands().get(name)
    return load_command_class(app, name) if app else None


def map_management_commands() -> dict[str, str]:
    """The app of each of our management commands, by its name."""
    from django.core.management import find_commands

    root = Path(__file__).parents[2]
    folders = {app: root.joinpath(*app.split("."), "management") for app in COMMAND_APPS}
    return {name: app for app, folder in folders.items() for name in find_commands(str(folder))}
