"""A message is read once, by one reader: nothing outside of `engine/understanding` interprets what the user typed."""

import ast
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import convengine.engine as room
from convengine.engine.forms import message
from convengine.play.in_memory import MemoryPlayer, build_test
from tests.builders import make_classifier, make_intent, make_schema, make_snapshot
from tests.builders import make_response as answer

ROOM = Path(room.__file__).parent
READER = "understanding"
STORED, GIVEN, PATTERN, BLANK, READ, LANGUAGE = (
    "it is stored, shown, redacted, or compared with itself",
    "it is given to a model, a prompt or a task",
    "it is matched by what an author or the deployment wrote: phrases, patterns, commands, rules",
    "only whether something was said",
    "it is handed to the reader, or quoted by the reader's positions",
    "its language is detected, before it is read in that language",
)
#: Every module that has the user's text, with what it does with it.
ALLOWED = {
    "dialogue/classify.py": PATTERN,
    "dialogue/language.py": LANGUAGE,
    "documents/cards.py": PATTERN,
    "forms/message.py": READ,
    "forms/single_field.py": READ,
    "forms/store_reading.py": READ,
    "llm/scripted.py": STORED,
    "memory/context_summary.py": STORED,
    "memory/summary.py": STORED,
    "memory/units.py": BLANK,
    "prompts/variables.py": GIVEN,
    "redaction.py": STORED,
    "rules/actions/refuse_value.py": STORED,
    "rules/actions/set_task.py": GIVEN,
    "rules/apply.py": PATTERN,
    "rules/conditions/rule.py": PATTERN,
    "rules/phase_events.py": STORED,
    "steps/actions/guardrail.py": PATTERN,
    "steps/buttons/step.py": PATTERN,
    "steps/conversation/step.py": PATTERN,
    "steps/correction/correct_form.py": BLANK,
    "steps/correction/step.py": PATTERN,
    "steps/dialogue_act/step.py": GIVEN,
    "steps/forms/ask_model.py": GIVEN,
    "steps/forms/find_by_model.py": GIVEN,
    "steps/forms/moves_by_model.py": GIVEN,
    "steps/forms/schema_extraction.py": BLANK,
    "steps/intents/agent.py": BLANK,
    "steps/intents/classifiers.py": PATTERN,
    "steps/intents/digression.py": PATTERN,
    "steps/intents/earlier_message.py": STORED,
    "steps/intents/hold_intent.py": PATTERN,
    "steps/intents/intent_resolution.py": PATTERN,
    "steps/intents/subject.py": PATTERN,
    "steps/interaction/step.py": STORED,
    "steps/policy/step.py": PATTERN,
    "steps/responses/go_back.py": STORED,
    "steps/responses/not_understood.py": BLANK,
    "threads/message_intent.py": PATTERN,
    "threads/resume.py": PATTERN,
    "turn/conversation.py": STORED,
    "turn/facts.py": STORED,
    "turn/reset.py": STORED,
    "turn/session.py": STORED,
}
#: Modules that have the user's text and patterns of their own, and what these are for.
ALLOWED_PATTERNS = {
    "redaction.py": "what the deployment masks",
    "rules/actions/set_task.py": "names of tasks",
    "steps/actions/guardrail.py": "blanks and invisible characters, before the deployment's patterns are tested",
}


def _list_modules_with_text() -> dict[str, ast.Module]:
    trees = {path.relative_to(ROOM).as_posix(): ast.parse(path.read_text("utf-8")) for path in ROOM.rglob("*.py")}
    return {name: tree for name, tree in trees.items() if not name.startswith(READER) and _has_text(tree)}


def _has_text(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "user_text" for node in ast.walk(tree))


def _has_own_patterns(tree: ast.Module) -> bool:
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {alias.name for node in nodes for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return not names.isdisjoint({"re", "re2", "regex"})


def test_the_text_of_the_user_is_used_by_modules_that_do_not_interpret_it() -> None:
    assert sorted(_list_modules_with_text()) == sorted(ALLOWED)


def test_no_pattern_of_the_engine_is_applied_to_the_text_of_the_user() -> None:
    modules = _list_modules_with_text()

    assert sorted(name for name, tree in modules.items() if _has_own_patterns(tree)) == sorted(ALLOWED_PATTERNS)


VISIT: dict[str, Any] = {
    "type": "object",
    "x-on-no": "ASK_WHAT_TO_CHANGE",
    "properties": {
        "name": {"type": "string", "title": "Name", "x-ask": "What is your name?"},
        "day": {"type": "string", "format": "date", "title": "Day", "x-ask": "On which day?"},
        "guests": {"type": "integer", "title": "Guests", "x-ask": "How many people?"},
    },
    "required": ["name", "day", "guests"],
}
#: What the user says, and the form's values then.
DIALOGUE = [
    ("book a visit", {}),
    ("my name is Ann Hill", {"name": "Ann Hill"}),
    ("next week", {"name": "Ann Hill"}),
    ("on 5 March, no, 6 March", {"name": "Ann Hill", "day": "2026-03-06"}),
    ("why?", {"name": "Ann Hill", "day": "2026-03-06"}),
    ("4", {"name": "Ann Hill", "day": "2026-03-06", "guests": 4}),
    ("change the guests to 5", {"name": "Ann Hill", "day": "2026-03-06", "guests": 5}),
    ("thanks, bye", {"name": "Ann Hill", "day": "2026-03-06", "guests": 5}),
]


def test_each_message_of_a_dialogue_is_cut_into_words_once_and_read_once_into_each_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: Counter[str] = Counter()
    _count_calls(monkeypatch, message, "understand", counts)
    _count_calls(monkeypatch, message, "read_into_form", counts)
    snapshot = make_snapshot(
        make_intent("VISIT"),
        make_classifier("VISIT", "book a visit", rule_type="PHRASE", state_code="ANY"),
        make_schema("VISIT", {}, json_schema=VISIT, schema_id=7),
        answer(intent_code="VISIT", state_code="ANY", exact_text="{{ question }}"),
    )
    document = {"id": "once", "title": "Once", "turns": [{"user": said} for said, _ in DIALOGUE]}
    player = MemoryPlayer(build_test(document), snapshot, datetime(2026, 3, 2, 9, tzinfo=UTC))

    for turn, (said, values) in zip(player.scenario.turns, DIALOGUE, strict=True):
        counts.clear()
        context = player.play(turn).seen.body["context"]
        # The message that begins the form is first understood without its words, so that its intent is known. (The
        # index of phrases, which mends words to those of all intents, is not counted.)
        assert (said, counts["understand"], counts["read_into_form"]) == (said, 2 if said == DIALOGUE[0][0] else 1, 1)
        assert {name: context[name] for name in VISIT["properties"] if name in context} == values


def _count_calls(patch: pytest.MonkeyPatch, module: Any, name: str, counts: Counter[str]) -> None:
    original: Callable[..., Any] = getattr(module, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        counts[name] += 1
        return original(*args, **kwargs)

    patch.setattr(module, name, call)
