"""What chapters name exists: limits are those of the code, and examples give what the manual says."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands

from audit.export.evidence.collect import MAX_TURNS as TURNS_OF_EVIDENCE
from audit.replay.replay import MAX_TURNS as TURNS_OF_A_REPLAY
from audit.what_if.selection import MAX_CONVERSATIONS
from audit.what_if.selection import MAX_TURNS as TURNS_OF_WHAT_IF
from config_admin.flows.faq.sheet import MAX_ALL_QUESTIONS, MAX_ANSWER, MAX_BYTES, MAX_LINES, MAX_QUESTION
from config_admin.manual import prose
from config_admin.test_cases.documents import MAX_TURNS as TURNS_OF_A_TEST
from config_admin.transfer.document import MOST_ROWS, MOST_VALUES
from convengine.cli.commands import BY_WORDS
from convengine.cli.main import main
from convengine.engine.forms.message import MOST_CHARACTERS
from convengine.engine.prompts.compile import MAX_TEMPLATE
from convengine.engine.prompts.values import MAX_OUTPUT
from convengine.engine.rules.conditions.rows import MAX_LEVELS
from convengine.engine.rules.conditions.values import MAX_ROWS
from convengine.engine.rules.patterns import MAX_INPUT, MAX_PATTERN
from convengine.engine.turn.live_settings import CATALOGUE
from convengine.server.deployment import conf
from convengine.server.deployment.environment import database

DOCS = Path(__file__).resolve().parents[3] / "docs"
NEW = ("troubleshooting", "design", "languages", "limits", "security", "versions", "cheat_sheet")
LIMITS = re.findall(r"^\| (.+?) \| (.+?) \|(.*)\|$", (DOCS / "limits.md").read_text(), re.MULTILINE)
#: The numbers of limits that nobody changes, by the subject of their line.
FIXED = {
    "characters of a message that a form reads": [MOST_CHARACTERS],
    "characters of a message that a pattern reads": [MAX_INPUT],
    "rows of a condition; levels of nested groups": [MAX_ROWS, MAX_LEVELS],
    "a pattern; a JSON path": [MAX_PATTERN],
    "a template; the text that it generates": [MAX_TEMPLATE, MAX_OUTPUT],
    "an FAQ file": [MAX_LINES, MAX_ALL_QUESTIONS, MAX_BYTES // 1024**2],
    "an FAQ question; an answer": [MAX_QUESTION, MAX_ANSWER],
    "rows and values of an imported file": [MOST_ROWS, MOST_VALUES],
    "turns of a test; a replay; an evidence file": [TURNS_OF_A_TEST, TURNS_OF_A_REPLAY, TURNS_OF_EVIDENCE],
    "*What if*: conversations; turns": [MAX_CONVERSATIONS, TURNS_OF_WHAT_IF],
}


def read_numbers(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]


def split_setting(name: str) -> tuple[str, str]:
    family, _, key = name.upper().partition("/")
    return family, key


def find_default(name: str) -> Any:
    if name == "CE_DATABASE_POOL_SIZE":
        return database("postgresql://host/name", "")["OPTIONS"]["pool"]["max_size"]
    return CATALOGUE[split_setting(name)].default if "/" in name else conf.DEFAULTS[name.removeprefix("CE_")]


@pytest.mark.parametrize(
    ("subject", "limit", "names"),
    [(subject, limit, re.findall(r"`(CE_[A-Z_]+|\w+/[A-Z_]+)`", changed)) for subject, limit, changed in LIMITS],
    ids=[subject for subject, _, _ in LIMITS],
)
def test_a_limit_is_that_of_the_code(subject: str, limit: str, names: list[str]) -> None:
    if subject in FIXED:
        assert read_numbers(limit) == FIXED[subject]
    elif names and names != ["Session/ON_CONCURRENT_TURN"]:
        defaults = [find_default(name) for name in names]
        if limit == "none":
            assert not any(defaults)
        else:
            assert read_numbers(limit) == [
                number
                for value in defaults
                for number in read_numbers(f"{value:.0f}" if isinstance(value, float) else str(value))
            ]


@pytest.mark.parametrize("slug", NEW)
def test_settings_and_variables_that_a_chapter_names_exist(slug: str) -> None:
    text = (DOCS / f"{slug}.md").read_text()
    settings = {split_setting(name) for name in re.findall(r"`(\w+/[A-Z_]{2,})`", text)}
    variables = set(re.findall(r"\b(CE_[A-Z_]+[A-Z])\b", text))

    assert settings - CATALOGUE.keys() == set()
    assert {name for name in variables if name not in (DOCS / "deployment.md").read_text()} == set()


@pytest.mark.parametrize(
    "command",
    re.findall(r"\bconvengine ((?:manage )?[a-z_]+(?: (?:create|publish))?)", (DOCS / "cheat_sheet.md").read_text()),
)
def test_commands_of_the_cheat_sheet_exist(command: str) -> None:
    first, _, rest = command.partition(" ")
    assert rest in get_commands() if first == "manage" else {command, first} & BY_WORDS.keys()


def test_the_two_languages_give_what_the_manual_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (DOCS / "languages.md").read_text()
    form, messages = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (tmp_path / "forms.json").write_text(form)
    (tmp_path / "messages.jsonl").write_text(messages)
    monkeypatch.chdir(tmp_path)
    (command,) = re.findall(r"^    convengine (evaluate --read .*)$", text, re.MULTILINE)

    assert main(shlex.split(command)) == 0
    taken = [json.loads(line)["taken"] for line in capsys.readouterr().out.splitlines()]

    assert taken == [json.loads(f"{{{said}}}")["taken"] for said in re.findall(r'`("taken": \{.*?\})`', text)]


def test_what_llms_txt_names_exists() -> None:
    names = re.findall(r"\]\(([^)]+)\)", (DOCS / "llms.txt").read_text())

    assert names
    assert [name for name in names if not (DOCS / name).is_file()] == []


@pytest.mark.parametrize(
    ("text", "slug", "heading"),
    [
        ("bot does not understand", "troubleshooting", "The bot does not understand a message"),
        ("403", "troubleshooting", "403 Forbidden"),
        ("How do I undo?", "troubleshooting", "How do I undo a change?"),
        ("rules don’t fire", "troubleshooting", "A rule does not fire"),
        ("telegram does not answer", "troubleshooting", "WhatsApp, Telegram or Slack does not answer"),
        ("limits", "limits", ""),
        ("encryption at rest", "security", "What is not there"),
    ],
)
def test_a_symptom_is_found_first(text: str, slug: str, heading: str) -> None:
    match = prose.search(text)[0]

    assert match.chapter.slug == slug
    assert match.paragraph.heading == heading or not heading
