"""What uses a row: everything that names it, and what leads to its scope.

`find_references` lists what a deletion would break; `list_uses` also lists what a change affects. Both are answered
from the configuration in force, without a query.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from config_admin.validation import relations
from config_admin.validation.rule_effects import get_target_state
from config_admin.validation.stored_columns import control_plane, list_prose_columns
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.steps.tools.settings import ALLOWED_NEXT
from convengine.engine.text.compare import code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, UNKNOWN, intent_key
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

#: Rows with texts that may name a field of a form, an input param, a tool or an action.
_ROWS_WITH_TEXTS: tuple[type[Row], ...] = (
    rows.Rule, rows.PromptTemplate, rows.Response, rows.DirectTool, rows.Planner, rows.PendingAction, rows.Verbose,
)  # fmt: skip
_REACHED = "Leads to its state"


class RowUse(NamedTuple):
    how: str
    row: Row


def list_uses(snapshot: Snapshot, row: Row) -> list[RowUse]:
    """What uses a stored row, without itself, each row once per kind of use."""
    finder = _FINDERS.get(type(row))
    named = finder(snapshot, row) if finder else ()
    uses = {(use.how, use.row.table, use.row.pk): use for use in (*named, *_find_rows_leading_to(snapshot, row))}
    return [use for (_, table, pk), use in uses.items() if (table, pk) != (row.table, row.pk)]


def _find_uses_of_intent(snapshot: Snapshot, row: rows.Intent) -> Iterator[RowUse]:
    intent = code(row.intent_code)
    for reference in find_references(snapshot, row):
        if isinstance(reference, rows.Classifier):
            yield RowUse("Leads to it", reference)
        elif code(getattr(reference, "intent_code", "")) == intent:
            yield RowUse("Belongs to it", reference)
        else:
            yield RowUse("Resets with it" if isinstance(reference, rows.Config) else "Changes to it", reference)


def _find_uses_of_tool(snapshot: Snapshot, row: rows.Tool) -> Iterator[RowUse]:
    name = row.tool_code.strip()
    for reference in find_references(snapshot, row):
        yield RowUse("Calls it" if isinstance(reference, rows.DirectTool) else "Shows its progress", reference)
    for kind in (rows.DbTool, rows.HttpTool):
        if behind := snapshot.row(kind, row.tool_id):
            yield RowUse("Runs it", behind)
    yield from _find_mentions(
        "Refers to it", snapshot, _build_word_pattern(name), (rows.Rule, rows.PromptTemplate, rows.Planner)
    )
    yield from _find_settings(snapshot, name)


def _find_uses_of_server(snapshot: Snapshot, row: rows.McpServer) -> Iterator[RowUse]:
    begun = rf"(?<![\w.])mcp\.{re.escape(row.name.strip())}\."
    kinds = (rows.Rule, rows.DirectTool, rows.PromptTemplate, rows.Planner, rows.Verbose)
    yield from _find_mentions("Refers to a tool of it", snapshot, begun, kinds)


def _find_uses_of_tool_kind(snapshot: Snapshot, row: Any) -> Iterator[RowUse]:
    if tool := snapshot.row(rows.Tool, row.tool_id):
        yield RowUse("Is the tool", tool)
        yield from _find_uses_of_tool(snapshot, tool)


def _find_uses_of_rule(snapshot: Snapshot, row: rows.Rule) -> Iterator[RowUse]:
    return (RowUse("Shows a text when it applies", reference) for reference in find_references(snapshot, row))


def _find_uses_of_action(snapshot: Snapshot, row: rows.PendingAction) -> Iterator[RowUse]:
    yield from _find_mentions(
        "Refers to it", snapshot, _build_word_pattern(row.action_key), (rows.Rule, rows.Response, rows.PromptTemplate)
    )
    yield from _find_settings(snapshot, row.action_key)


def _find_uses_of_form(snapshot: Snapshot, row: rows.OutputSchema) -> Iterator[RowUse]:
    names = relations.get_properties(row.json_schema)
    if names:
        yield from _find_mentions(
            "Uses its fields", snapshot, _build_name_pattern(names), _ROWS_WITH_TEXTS, intent=row.intent_code
        )


def _find_uses_of_container(snapshot: Snapshot, row: rows.ContainerConfig) -> Iterator[RowUse]:
    pattern = _build_name_pattern([row.input_param_name])
    yield from _find_mentions("Uses its data", snapshot, pattern, _ROWS_WITH_TEXTS, intent=row.intent_code)


def _find_uses_of_template(snapshot: Snapshot, row: rows.PromptTemplate) -> Iterator[RowUse]:
    for response in relations.find_rows_sharing_scope(snapshot, rows.Response, row.intent_code, row.state_code):
        if code(response.response_type) == "DERIVED" and code(response.output_format) == code(row.response_type):
            yield RowUse("May be written with it", response)


_FINDERS: Mapping[type[Row], Callable[[Snapshot, Any], Iterator[RowUse]]] = {
    rows.Intent: _find_uses_of_intent,
    rows.Tool: _find_uses_of_tool,
    rows.DbTool: _find_uses_of_tool_kind,
    rows.HttpTool: _find_uses_of_tool_kind,
    rows.McpServer: _find_uses_of_server,
    rows.Rule: _find_uses_of_rule,
    rows.PendingAction: _find_uses_of_action,
    rows.OutputSchema: _find_uses_of_form,
    rows.ContainerConfig: _find_uses_of_container,
    rows.PromptTemplate: _find_uses_of_template,
}


# --- texts that name something ----------------------------------------------------------------------------------


def _build_word_pattern(name: str) -> str:
    return rf"(?<![\w.]){re.escape(name.strip())}(?![\w.])"


def _build_name_pattern(names: Iterable[str]) -> str:
    """Names in expressions: after a dot, in quotes or brackets, or inside a template's braces."""
    some = "|".join(map(re.escape, sorted(names)))
    return rf"(?:[.'\"\[]|\{{\{{[^{{}}]*?\b|\{{%[^%]*?\b)(?:{some})\b"


def _find_mentions(
    how: str, snapshot: Snapshot, pattern: str, kinds: Iterable[type[Row]], *, intent: str = ANY
) -> Iterator[RowUse]:
    regex = re.compile(pattern, re.IGNORECASE)
    for kind in kinds:
        for row, texts, _ in list_row_texts(snapshot, kind):
            if not relations.scope_fits(code(getattr(row, "intent_code", ANY)), code(intent)):
                continue
            if any(regex.search(text) for name, text in texts.items() if name not in list_prose_columns(row.table)):
                yield RowUse(how, row)


def _find_settings(snapshot: Snapshot, name: str) -> Iterator[RowUse]:
    """Settings with a value for this one alone, and the list of what may follow it."""
    for row in snapshot.rows(rows.Config):
        qualifier = row.config_key.partition(".")[2].strip()
        if qualifier.upper() == name.strip().upper():
            yield RowUse("Has its own setting", row)
        elif code(row.config_key) == ALLOWED_NEXT.key and re.search(
            _build_word_pattern(name), row.config_value, re.IGNORECASE
        ):
            yield RowUse("Allows moves from it", row)


# --- what leads to the scope ------------------------------------------------------------------------------------


def _find_rows_leading_to(snapshot: Snapshot, row: Row) -> Iterator[RowUse]:
    """Rules, phrases and edges that lead to the state of a row, if it has one."""
    state = code(row.from_state if isinstance(row, rows.StateEdge) else getattr(row, "state_code", ""))
    intent = code(getattr(row, "intent_code", ANY))
    if not state or state in (ANY, UNKNOWN) or isinstance(row, rows.Classifier):
        return
    for rule in relations.index_rows(snapshot, rows.Rule, get_target_state).get(state, ()):
        if relations.scope_fits(code(rule.intent_code), intent) or code(rule.intent_code) == UNKNOWN:
            yield RowUse(_REACHED, rule)
    for classifier in relations.index_rows(snapshot, rows.Classifier, _get_own_state).get(state, ()):
        if relations.scope_fits(code(classifier.intent_code), intent):
            yield RowUse(_REACHED, classifier)
    for edge in relations.index_rows(snapshot, rows.StateEdge, _get_end_state).get(state, ()):
        if relations.scope_fits(code(edge.intent_code), intent):
            yield RowUse("Allows the move to its state", edge)


def _get_own_state(row: rows.Classifier) -> str:
    return code(row.state_code)


def _get_end_state(row: rows.StateEdge) -> str:
    return code(row.to_state)


#: How many rows a message names, besides the total number.
_MAX_SHOWN = 10


def find_references(snapshot: Snapshot, row: Row) -> tuple[Row, ...]:
    """The rows that name this intent, tool or rule, including disabled ones."""
    if isinstance(row, rows.Intent):
        return tuple(_find_references_to_intent(snapshot, code(row.intent_code)))
    if isinstance(row, rows.Tool):
        by_tool = (
            relations.index_rows(snapshot, kind, relations.tool_code_key) for kind in (rows.DirectTool, rows.Verbose)
        )
        return tuple(named for named_by in by_tool for named in named_by.get(relations.tool_code_key(row), ()))
    if isinstance(row, rows.Rule):
        return relations.index_rows(snapshot, rows.Verbose, _get_rule).get(row.rule_id, ())
    return ()


def format_references(references: tuple[Row, ...]) -> str:
    """`rule 41, answer 7`, for messages."""
    shown = ", ".join(f"{control_plane()[row.table]._meta.verbose_name} {row.pk}" for row in references[:_MAX_SHOWN])
    return f"{shown} …" if len(references) > _MAX_SHOWN else shown


def _find_references_to_intent(snapshot: Snapshot, intent: str) -> Iterator[Row]:
    for row_type in rows.ROW_TYPES:
        if row_type is not rows.Intent and "intent_code" in rows.columns(row_type):
            yield from relations.index_rows(snapshot, row_type, intent_key).get(intent, ())
    for rule in relations.index_rows(snapshot, rows.Rule, _get_target_intent).get(intent, ()):
        if code(rule.intent_code) != intent:
            yield rule
    reading = live_settings.read(snapshot, RESET_INTENT_CODES)
    if reading.row and intent in reading.value:
        yield reading.row


def _get_rule(verbose: rows.Verbose) -> int | None:
    return verbose.rule_id


def _get_target_intent(rule: rows.Rule) -> str | None:
    return code(rule.action_value) if code(rule.action) == "SET_INTENT" else None


class RowTexts(NamedTuple):
    row: Row
    #: By column, without empty ones.
    texts: dict[str, str]
    #: All of it in lower case, for a quick test.
    folded: str


def list_row_texts(snapshot: Snapshot, row_type: type[Row]) -> Sequence[RowTexts]:
    """All rows of a type, including disabled ones, with their texts; made once per table."""
    return snapshot.table(row_type).memo.get("said", lambda: [_read_row_texts(row) for row in snapshot.rows(row_type)])


def _read_row_texts(row: Row) -> RowTexts:
    texts: dict[str, str] = {}
    for name in rows.columns(type(row)):
        value = getattr(row, name)
        if value not in (None, "") and not isinstance(value, (bool, int, float)):
            texts[name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=dict)
    texts.setdefault(row.key, str(row.pk))
    return RowTexts(row, texts, "\n".join(texts.values()).lower())


def list_texts(document: Json, *, with_names: bool = False) -> Iterator[str]:
    """Every text of a JSON document, and the names of its values if they are wanted."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, Mapping):
        for name, value in document.items():
            if with_names:
                yield name
            yield from list_texts(value, with_names=with_names)
    elif isinstance(document, list):
        for value in document:
            yield from list_texts(value, with_names=with_names)
