"""docs/production.md: its commands run in two installations, print what it shows, and lose no edit of either."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.migrated import copy_migrated

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = (ROOT / "docs/production.md").read_text()
RUN = """
import contextlib, io, json, sys
from convengine.cli.main import main
for line in sys.stdin:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), contextlib.suppress(SystemExit):
        main(json.loads(line))
    print(json.dumps(printed.getvalue()), flush=True)
"""
EDIT = """
from config_admin import models as m
from config_admin.releases.change_set import change_set
def answer(intent, **columns):
    assert m.CeResponse.objects.filter(intent_code=intent).update(**columns) == 1
def add_phrase(pattern):
    m.CeIntentClassifier.objects.create(
        intent_code="OPENING_HOURS", state_code="UNKNOWN", rule_type="PHRASE", pattern=pattern
    )
with change_set("ADMIN", "ada", "A live edit"):
"""


class Installation:
    """A folder with a database, and a process that runs its commands."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        copy_migrated(folder / "db.sqlite3")
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("CE_", "DATABASE_", "PYTEST_"))
        }
        own = {"CE_SECRET_KEY": "only-for-tests", "CE_VAR_DIR": str(folder), "PYTHONPATH": str(ROOT)}
        own["DATABASE_URL"] = f"sqlite:///{folder / 'db.sqlite3'}"
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN], cwd=folder, env=kept | own, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *words: str) -> str:
        """What a command prints."""
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps(words), file=self.process.stdin, flush=True)
        return str(json.loads(self.process.stdout.readline()))

    def edit(self, statement: str) -> None:
        """An edit of a live row, as one release."""
        assert self.run("manage", "shell", "-v0", "-c", f"{EDIT}    {statement}") == ""

    def end(self) -> None:
        """End the process."""
        self.process.communicate(timeout=60)


#: What people do live before the commands below a heading: installation and statement.
EDITS = {
    "The first time": [],
    "From staging to production": [
        ("staging", "answer('PAYMENT', exact_text='Cash and cards.'), add_phrase('until when')"),
        ("production", "answer('OPENING_HOURS', exact_text='Not on Sundays.'), add_phrase('open on sundays')"),
    ],
    "From production to staging": [
        ("staging", "answer('ADDRESS', exact_text='Mill Lane 5.')"),
        ("production", "m.CeIntentClassifier.objects.get(pattern='what are your prices').delete()"),
    ],
    "When both changed the same field": [
        ("staging", "answer('WARRANTY', exact_text='Two years.')"),
        ("production", "answer('WARRANTY', exact_text='Three years.')"),
    ],
    "After the decision": [("production", "answer('WARRANTY', exact_text='Two years.')")],
}
ROWS = """
from config_admin import models as m
phrases = m.CeIntentClassifier.objects.filter(pattern__in=["until when", "open on sundays", "what are your prices"])
print(sorted(phrases.values_list("pattern", flat=True)))
answers = m.CeResponse.objects.filter(intent_code__in=["PAYMENT", "OPENING_HOURS", "ADDRESS", "WARRANTY"])
print(sorted(answers.values_list("exact_text", flat=True)))
"""


def list_transcripts() -> dict[str, list[tuple[str, str]]]:
    """The commands below each heading, with what they print."""
    sections = re.findall(r"^## (.+)\n([\s\S]*?)(?=^## |\Z)", CHAPTER, re.MULTILINE)
    return {
        heading: [
            (command, printed)
            for block in re.findall(r"```\n([\s\S]*?)```", text)
            for command, printed in re.findall(r"^(\w+\$ .*)\n((?:(?!\w+\$ ).*\n)*)", block, re.MULTILINE)
        ]
        for heading, text in sections
        if "```" in text
    }


@pytest.fixture
def installations(tmp_path: Path) -> Iterator[dict[str, Installation]]:
    by_name = {name: Installation(tmp_path / name) for name in ("staging", "production")}
    yield by_name
    for installation in by_name.values():
        installation.end()


def test_the_commands_of_the_chapter_print_what_it_shows_and_lose_no_edit(
    installations: dict[str, Installation],
) -> None:
    transcripts = list_transcripts()
    assert list(transcripts) == list(EDITS)

    for heading, edits in EDITS.items():
        for name, statement in edits:
            installations[name].edit(statement)
        for command, printed in transcripts[heading]:
            name, _, words = command.partition("$ convengine ")
            pattern = re.escape(printed).replace(re.escape("…\n"), r"[\s\S]*")
            shown = installations[name].run(*words.split())
            assert re.fullmatch(pattern, shown), f"{command}\n{shown}"

    rows = installations["production"].run("manage", "shell", "-v0", "-c", ROWS)
    assert rows == (
        "['open on sundays', 'until when']\n['Cash and cards.', 'Mill Lane 5.', 'Not on Sundays.', 'Two years.']\n"
    ), rows
    assert installations["staging"].run("manage", "shell", "-v0", "-c", ROWS) == rows
