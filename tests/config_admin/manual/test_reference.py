"""Everything that has a name has an entry: a table, column, setting, word, stage or code without one fails here."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps

from config_admin.manual.prose import PARTS
from config_admin.manual.reference import chapters, index_entries, index_unique_names, search
from config_admin.manual.tables import RELATED_CHAPTERS
from config_admin.manual.vocabulary import list_vocabularies
from config_admin.validation.codes import CODES, HEALTH_CODES
from config_admin.validation.world import DETERMINANTS
from convengine.engine.pipeline.order import DEFAULT_PIPELINE
from convengine.engine.stages import STAGES
from convengine.engine.tools.fault import FAULTS
from convengine.engine.turn.enums import RuleAction, RulePhase
from convengine.engine.turn.labels import in_words
from convengine.engine.turn.live_settings import CATALOGUE
from convengine.server.admin_site.rights import GROUPS
from convengine.server.api.failures import list_failures
from convengine.server.observability.metric import Counter
from convengine.server.observability.metrics import ALL as METRICS
from convengine.server.settings_catalogue import TITLES
from tests.cases import for_each

ROOT = Path(__file__).resolve().parents[3]
ACCESS = ROOT / "config_admin/manual/access.json"
#: Codes that are not given as a text: that of the guard of SQL statements, and a default.
ELSEWHERE = {"SQL_NOT_READONLY", "SHADOWED_ROW"}
#: The same of tools: of the guard, of expressions, and of results that are kept.
OF_TOOLS = {"SQL_NOT_READONLY", "EXPRESSION_INVALID", "RESULT_TOO_DEEP", "OVERLOADED", "TOOL_RESULT_INCOMPLETE"}
#: How checks hand a code over.
GIVES = {
    "ColumnProblem",
    "Finding",
    "_refused",
    "_refuse_row",
    "error",
    "warning",
    "choice",
    "required",
    "make_any_scope_check",
    "make_rival_check",
    "make_shadowing_check",
    "ValidationError",
    "PatternError",
    "ActionValueError",
}


def columns() -> Iterator[str]:
    for model in apps.get_models():
        table = model._meta.db_table
        if table.startswith("ce_") and not hasattr(model, "history_type"):
            yield table
            yield from (f"{table}.{field.name}" for field in model._meta.concrete_fields)


def list_anchors() -> Iterator[str]:
    """The anchor of everything that there is."""
    yield from columns()
    yield from (f"setting.{setting.name}" for setting in CATALOGUE.values())
    yield from (f"phase.{phase}" for phase in RulePhase)
    yield from (f"action.{action}" for action in RuleAction)
    yield from (
        f"word.{vocabulary.__name__}" for vocabulary in list_vocabularies() if vocabulary not in (RulePhase, RuleAction)
    )
    yield from (f"step.{path.rpartition('.')[2]}" for path in DEFAULT_PIPELINE)
    yield from (f"event.{name}" for name in DETERMINANTS)
    yield from (f"stage.{stage}" for stage in STAGES.values())
    yield from (f"check.{code}" for code in given_by_checks())
    yield from (f"health.{code}" for code in HEALTH_CODES)
    yield from (f"error.{failure.code}" for failure in list_failures())
    yield from (f"tool-error.{code}" for code in given_by_tools())
    yield from (f"group.{group.name}" for group in GROUPS)
    callers = [callers for part in json.loads(ACCESS.read_text()).values() for callers in part]
    yield from (f"access.{number}" for number, _ in enumerate(callers, 1))
    yield from (f"metric.{metric.name}{'_total' if isinstance(metric, Counter) else ''}" for metric in METRICS)


def given_by_checks() -> set[str]:
    """Every code that a save check gives, found in the checks themselves."""
    folders = [
        ROOT / name
        for name in (
            "config_admin/validation",
            "config_admin/tables",
            "config_admin/editing",
            "config_admin/form_save",
            "config_admin/comparison",
            "config_admin/history",
            "config_admin/restore",
            "config_admin/workplace",
            "config_admin/transfer",
            "convengine/engine/rules",
        )
    ]
    names = set(ELSEWHERE)
    for file in (path for folder in folders for path in folder.rglob("*.py")):
        for call in (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in GIVES:
                values = [*call.args, *(word.value for word in call.keywords)]
                texts = [
                    node.value for node in values if isinstance(node, ast.Constant) and isinstance(node.value, str)
                ]
                names |= {text for text in texts if re.fullmatch(r"[A-Z][A-Z_]{4,}", text)}
    return names - set(RuleAction)


def given_by_tools() -> set[str]:
    sources = "".join(path.read_text() for path in (ROOT / "convengine").rglob("*.py"))
    return set(re.findall(r'(?:ToolFault|_Failed)\(\s*"([A-Z_]+)"', sources)) | OF_TOOLS


@for_each("anchor", sorted(set(list_anchors())))
def test_it_has_an_entry_that_says_something(anchor: str) -> None:
    assert anchor in index_entries(), f"{anchor} has no entry in the manual"
    entry = index_entries()[anchor].entry
    assert len(entry.text.split()) >= 2, f"the entry of {anchor} says nothing"
    unsaid = [choice.value for choice in entry.choices if choice.value and not choice.help]
    assert unsaid == [], f"{anchor} does not say what these mean"


def test_the_reference_has_nothing_that_is_not_there() -> None:
    custom = {anchor for anchor in index_entries() if anchor.startswith("action.")}

    assert index_entries().keys() - custom == set(list_anchors()) - custom


def test_codes_that_nothing_gives_are_not_explained() -> None:
    assert set(CODES) == given_by_checks()
    assert set(FAULTS) == given_by_tools()


def test_every_family_of_settings_has_a_title_and_a_page() -> None:
    assert {setting.type for setting in CATALOGUE.values()} == set(TITLES)
    assert [slug for slug in chapters() if slug.startswith("settings-")] == [f"settings-{family}" for family in TITLES]


def test_entries_tell_nothing_of_the_specification() -> None:
    sources = re.compile(r"\bR\d{1,3}\b|\((?:tables|settings|pipeline-\d|sessions) ")

    assert [anchor for anchor, location in index_entries().items() if sources.search(location.entry.text)] == []


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("priority", "ce_"),
        ("SET_STATE", "action.SET_STATE"),
        ("turn_conflict", "error.TURN_CONFLICT"),
        ("ce_rule.priority", "ce_rule.priority"),
        ("idle minutes new session", "setting.Session/TIMEOUT_MINUTES"),
    ],
)
def test_what_is_called_so_is_found_first(text: str, first: str) -> None:
    assert search(text)[0].entry.anchor.startswith(first)


def test_nothing_is_found_for_no_words_and_for_words_that_nothing_has() -> None:
    assert search("  ") == ()
    assert search("zyzzyva") == []


def test_what_entries_lead_to_is_there() -> None:
    known = {*columns()}

    assert set(RELATED_CHAPTERS) - known == set()
    assert {slug for slugs in RELATED_CHAPTERS.values() for slug in slugs} <= {
        slug for part in PARTS.values() for slug in part
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [("HTTP_TIMEOUT", "HTTP timeout"), ("SchemaExtraction", "Schema extraction"), ("POLICY", "Policy")],
)
def test_names_are_said_in_words(name: str, words: str) -> None:
    assert in_words(name) == words


def test_a_word_that_two_things_have_leads_to_neither() -> None:
    assert index_unique_names()["POST_DIALOGUE_ACT"] == "phase.POST_DIALOGUE_ACT"
    assert "DATABASE_UNKNOWN" not in index_unique_names()


def test_a_stage_says_who_writes_it_and_what_its_payload_holds() -> None:
    chapter = chapters()["stages"]
    entry = next(entry for entry in chapter.entries if entry.anchor == "stage.CONTEXT_TRIMMED")

    assert ("Written by", "PersistConversationStep") in entry.facts
    assert ("Payload keys", "dropped, bytes, maxBytes") in entry.facts
