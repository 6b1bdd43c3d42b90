"""The base of our management commands: options are written in full, so that `--override` is not `--override-gate`."""

from typing import Any, Literal

from django.core.management.base import BaseCommand, CommandParser

#: The tag of the system checks of a deployment's settings and code. Others load each page and its address.
SETTINGS = "settings"


class ExactParser(CommandParser):
    """A parser without abbreviated options; a command gives it to its actions (`add_subparsers`)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_abbrev": False})


class ExactCommand(BaseCommand):
    """A management command without abbreviated options. It is checked for what it uses: a server says `__all__`."""

    requires_system_checks: list[str] | tuple[str, ...] | Literal["__all__"] = (SETTINGS,)

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, **{**options, "allow_abbrev": False})
