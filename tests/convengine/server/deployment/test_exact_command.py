"""No management command of ours takes abbreviated options."""

from argparse import ArgumentParser
from collections.abc import Iterator

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class


def list_parsers(name: str, parser: ArgumentParser) -> Iterator[tuple[str, ArgumentParser]]:
    """The parsers of a command and of its actions."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for word, below in action.choices.items():
                yield from list_parsers(f"{name} {word}", below)


def test_no_command_takes_abbreviated_options() -> None:
    ours = {
        name: load_command_class(app, name).create_parser("manage.py", name)
        for name, app in get_commands().items()
        if str(app).startswith(("config_admin", "audit", "convengine"))
    }
    parsers = [each for name, parser in ours.items() for each in list_parsers(name, parser)]
    assert len(parsers) > len(ours) > 20
    assert [name for name, parser in parsers if parser.allow_abbrev] == []


@pytest.mark.parametrize("option", ["--override", "--override-gat"])
def test_a_beginning_of_an_option_is_refused(option: str) -> None:
    with pytest.raises(CommandError, match="unrecognized arguments"):
        call_command("draft", "publish", "Some draft", option, "because")
