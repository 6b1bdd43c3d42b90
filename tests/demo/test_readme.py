"""The lines of the README and of the first hour of a QA reader, played as they stand there."""

import json
import re
from typing import Any

import pytest

from config_admin.commands.management.commands.demo import SCOPES
from tests.api import Caller, make_key
from tests.demo.conftest import ROOT

README = (ROOT / "README.md").read_text()
FIRST_HOUR = (ROOT / "docs/first_hour_qa.md").read_text()
#: `say "…" '…'` | answer |
LINE = re.compile(r"""^\| `say "([^"]*)"(?: '(.*)')?` \| (.*) \|$""", re.MULTILINE)
Line = tuple[str, dict[str, Any], str]


#: what is typed | answer
TYPED = re.compile(r"^\| (.+) \| (.+) \|$", re.MULTILINE)


def tables(text: str) -> list[list[Line]]:
    """Each table of the chapter as the lines that are said, what is sent with them, and the answers."""
    found = [LINE.findall(part) for part in text.split("| you say, after `new` | it answers |")[1:]]
    return [
        [(said, json.loads(f"{{{more}}}") if more else {}, answer) for said, more, answer in table] for table in found
    ]


def fits(told: str, answer: str) -> bool:
    """True for the answer itself, and for one that goes on where the README has an ellipsis."""
    return told.startswith(answer.removesuffix("…").rstrip()) if answer.endswith("…") else told == answer


def read_first_table() -> list[Line]:
    """The conversation of the README, whose lines are typed into the chat."""
    table = README.partition("| you | ConvEngine |\n|---|---|\n")[2].partition("\n\n")[0]
    return [(said, {}, answer) for said, answer in TYPED.findall(table)]


TABLES = [read_first_table(), *tables(FIRST_HOUR)]


def test_the_first_hour_has_long_conversations() -> None:
    assert [len(table) for table in TABLES] == [4, 8, 6]


@pytest.mark.usefixtures("helpdesk")
@pytest.mark.parametrize("table", TABLES, ids=["first", "cancel", "refund and close"])
def test_the_lines_get_the_answers_that_stand_beside_them(table: list[Line]) -> None:
    customer = Caller(make_key(scopes=SCOPES))

    told = [(said, customer.say(said, **more)["payload"]["value"]) for said, more, _ in table]

    assert [pair for pair, (_, _, answer) in zip(told, table, strict=True) if not fits(pair[1], answer)] == []
