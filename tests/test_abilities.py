"""What the product can do, by name, is what the list says: nothing goes, or comes, without a change of it."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import URLResolver, get_resolver

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from config_admin.validation.codes import CODES, HEALTH_CODES
from convengine.cli.commands import BY_WORDS, map_management_commands
from convengine.engine import errors
from convengine.engine.stages import STAGES
from convengine.engine.tools.fault import FAULTS
from convengine.engine.turn.live_settings import CATALOGUE
from convengine.included_urls import API
from convengine.server.api.failures import list_error_codes
from tests.convengine.server.api.test_schema import list_operations, read_document
from tests.test_docs import list_variables

#: A kind and a name a line. A line that goes is an ability that somebody may miss.
#: `CE_WRITE_MANUAL=true` writes it anew.
LIST = Path(__file__).with_name("abilities.txt")
WRITES = os.environ.get("CE_WRITE_MANUAL") == "true"


def list_abilities() -> Iterator[tuple[str, Iterable[str]]]:
    """The kinds of abilities, and the names of each."""
    yield "call", (operation["operationId"] for operation in list_operations(read_document()))
    yield "page", list_addresses(get_resolver().url_patterns)
    yield "command", map_management_commands()
    yield "convengine", BY_WORDS
    yield "setting", (setting.name for setting in CATALOGUE.values())
    yield "variable", list_variables()
    yield "stage", STAGES
    of_start = {getattr(error, "code", "") for error in vars(errors).values() if isinstance(error, type)}
    yield "error", {*of_start, *dict(list_error_codes())} - {""}
    yield "check", CODES
    yield "finding", HEALTH_CODES
    yield "fault", FAULTS


def list_addresses(patterns: Iterable[Any]) -> Iterator[str]:
    """The names of all addresses but those of the API, also of those below others."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from () if pattern in API else list_addresses(pattern.url_patterns)
        elif pattern.name:
            yield pattern.name


def test_the_product_can_do_what_the_list_says() -> None:
    abilities = {f"{kind} {name}" for kind, names in list_abilities() for name in names}
    if WRITES:
        LIST.write_text("".join(f"{ability}\n" for ability in sorted(abilities)), "utf-8")
    listed = set(LIST.read_text("utf-8").splitlines())
    changes = [*(f"gone: {name}" for name in listed - abilities), *(f"new: {name}" for name in abilities - listed)]
    if changes:
        pytest.fail("\n".join([*sorted(changes), "CE_WRITE_MANUAL=true writes tests/abilities.txt anew."]), False)
