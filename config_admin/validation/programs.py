"""Checks of texts in a language: patterns, paths, templates, JSON."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from config_admin.validation import relations
from config_admin.validation.draft import Draft, Finding
from config_admin.validation.rule_effects import list_written_names
from config_admin.validation.template_faults import describe_template_fault, locate_name
from convengine.engine.prompts import render, variables
from convengine.engine.rules.actions.contract import ENGINE_BRANCHES
from convengine.engine.rules.conditions.evaluate import compile_path
from convengine.engine.rules.conditions.nodes import PathError
from convengine.engine.rules.patterns import PatternError, compile_pattern, find_double_backslash
from convengine.engine.rules.text_bank import EXACT, REGEX, matches_single
from convengine.engine.text.compare import blank, code
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn import rows
from convengine.engine.turn.enums import OutputFormat
from convengine.engine.turn.facts import RESERVED_FACTS
from convengine.engine.turn.params import PARAMS
from convengine.engine.turn.snapshot import Snapshot
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.server.interfaces.older_templates import ConversionError, convert

#: How many expressions of an older form a message shows.
_SHOWN = 5
#: Source of other template languages that is no part of a Jinja2 template: `${name}`, `#{name}`, `th:if=`, `%s`.
_LEFT_OVER = re.compile(
    r"\[[\[(]\$\{?[^{}\s\])]{0,40}|[$#]\{[^{}\s]{0,40}\}?|\bth:[a-z]+=|</?#[a-z]+|<%[=\w ]{0,20}"
    r"|(?<![\w%])%(?:\d\$)?s\b"
)
_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
#: A word boundary beside a letter that the engine's `\b` does not count.
_FOREIGN_BOUNDARY = re.compile(r"(?<!\\)\\b(?P<after>[^\W\d_a-zA-Z])|(?P<before>[^\W\d_a-zA-Z])\\b")


def check_regex(draft: Draft[Any], field: str, text: str | None) -> Iterator[Finding]:
    """A pattern that the engine can run, and that means what it seems to."""
    if text is None or blank(text):
        return
    try:
        compile_pattern(text)
    except PatternError as error:
        yield draft.error(error.code, field, _describe_pattern_error(error))
        return
    if doubled := find_double_backslash(text):
        yield draft.warning(
            "REGEX_DOUBLE_BACKSLASH",
            field,
            f"{doubled} matches a backslash followed by {doubled[-1]}. Write one backslash: {doubled[1:]}",
        )
    if match := _FOREIGN_BOUNDARY.search(text):
        letter = match["after"] or match["before"]
        yield draft.warning(
            "REGEX_BOUNDARY_ASCII",
            field,
            rf"\b only knows the letters a to z, so it finds no word boundary next to {letter}. "
            r"Write (?:^|\W) or (?:\W|$) instead.",
        )


def _describe_pattern_error(error: PatternError) -> str:
    hint = f" {error.hint}" if error.hint else ""
    if error.code == "REGEX_FLAGS_POSITION":
        return "Flags such as (?i) are only allowed at the start. Matching ignores case anyway."
    if error.code == "REGEX_UNSUPPORTED":
        return f"This regular expression uses a feature that is not supported here: {error.reason}.{hint}"
    return f"This regular expression is not valid: {error.reason}{_format_position(error.position)}.{hint}"


def _format_position(position: int | None) -> str:
    return "" if position is None else f" at position {position}"


def check_json_path(draft: Draft[Any], field: str, text: str | None) -> Iterator[Finding]:
    if text is None or blank(text):
        return
    try:
        compile_path(text)
    except PathError as error:
        yield draft.error(
            "JSONPATH_INVALID",
            field,
            f"This is not a valid JSON path: {error.reason}{_format_position(error.position)}. "
            "Example: $[?(@.state == 'CONFIRM' && @.inputParams.ok == true)]",
        )


def check_json_document(draft: Draft[Any], field: str) -> Iterator[Finding]:
    """A JSON column that came as text is valid."""
    value = getattr(draft.row, field)
    if isinstance(value, str):
        yield from check_json_text(draft, field, value)


def check_json_text(draft: Draft[Any], field: str, text: str) -> Iterator[Finding]:
    try:
        read_json(text)
    except Unreadable as error:
        yield draft.error("JSON_INVALID", field, f"This is not valid JSON: {error.describe()}.")


def check_template(
    draft: Draft[Any], field: str, text: str | None, *, intent: str, strict: bool = True
) -> Iterator[Finding]:
    """A valid template that uses known names; `strict`: an unknown name fails the turn."""
    if text is None or blank(text):
        return
    try:
        converted = convert(text)
        render.check_template(converted.text)
    except ConversionError as error:
        yield draft.error(
            "TEMPLATE_INVALID", field, f"This template is not valid: {error.reason}{_format_position(error.position)}."
        )
        return
    except render.TemplateError as error:
        yield draft.error(
            "TEMPLATE_INVALID",
            field,
            f"This template is not valid. {describe_template_fault(converted.text, error)}",
        )
        return
    if changes := converted.changes:
        shown = "; ".join(f"{before} becomes {after}" for before, after in changes[:_SHOWN])
        more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
        yield draft.warning(
            "TEMPLATE_OLDER_FORM",
            field,
            f"Only Jinja2 is filled in. On saving, this is converted to Jinja2: {shown}{more}.",
        )
    if leftovers := list(dict.fromkeys(_LEFT_OVER.findall(_JINJA.sub("", converted.text))))[:_SHOWN]:
        yield draft.warning(
            "TEMPLATE_SOURCE_LEFT",
            field,
            f"{', '.join(leftovers)} belongs to another template language and stays in the text. Write values as "
            "{{ name }}, and conditions as {% if … %}.",
        )
    if render.has_buttons(converted.text) and not _is_text_answer(draft.row, field):
        yield draft.warning(
            "BUTTONS_NOT_SHOWN", field, "Only the text of an answer shows buttons. Write them there, or remove them."
        )
    consequence = (
        "If no rule sets it, the turn fails with UNRESOLVED_PROMPT_VARIABLE."
        if strict
        else "If no rule sets it, nothing is shown in its place."
    )
    for name in sorted(find_unknown_names(draft.snapshot, render.list_names(converted.text), intent)):
        hint = did_you_mean(name, list_known_names(draft.snapshot, intent))
        yield draft.warning(
            "TEMPLATE_VAR_UNKNOWN",
            field,
            f"{name} ({locate_name(converted.text, name)}) is neither a name that the engine provides nor a field of "
            f"this intent's form. {consequence}{hint}",
        )


def _is_text_answer(row: Any, field: str) -> bool:
    return isinstance(row, rows.Response) and field == "exact_text" and code(row.output_format) == OutputFormat.TEXT


#: Names of single callers: the disambiguation question, sessions, units, progress texts, SQL repair.
_OF_CALLERS = frozenset(
    {
        "options", "candidate_count", "action_keys", "question", "summary", "stepName", "stepLabel", "stepInfo",
        "determinant", "sections",
        "result", "errorType", "errorMessage", "severity", "theme", "icon", "sql_before", "params_json",
        "error_message", "answer", "validation", "validation_tables", "pending_slot", "pendingSlot", "help_text",
        "responseType", "outputFormat", "promptTemplateId",
    }
)  # fmt: skip
ENGINE_NAMES = variables.list_known_names() | RESERVED_FACTS | PARAMS.keys() | ENGINE_BRANCHES | _OF_CALLERS


def find_unknown_names(snapshot: Snapshot, used: Collection[str], intent: str) -> frozenset[str]:
    """The names of a template that neither the engine nor a form of the intent nor a rule provides."""
    return frozenset({name.partition(".")[0] for name in used} - list_known_names(snapshot, intent))


def list_known_names(snapshot: Snapshot, intent: str) -> frozenset[str]:
    """The names that templates of an intent may use."""
    return ENGINE_NAMES | relations.list_form_fields(snapshot, intent) | list_written_names(snapshot)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def is_match(rule_type: str, pattern: str | None, text: str) -> bool:
    """True when a row of this type and pattern matches the text; an unusable pattern never does."""
    try:
        return matches_single(code(rule_type), pattern, text)
    except PatternError:
        return False


def matches_everything(rule_type: str, pattern: str | None) -> bool:
    """True for a pattern that matches every text: the empty one, or any single character."""
    if code(rule_type) != REGEX or not pattern:
        return False
    try:
        compiled = compile_pattern(pattern)
    except PatternError:
        return False
    return compiled.occurs_in("") or all(compiled.occurs_in(text) for text in ("a", "7", "?", "é"))


def is_too_broad(rule_type: str, pattern: str | None) -> bool:
    """True for a pattern that matches the empty text, or a single letter anywhere."""
    if matches_everything(rule_type, pattern):
        return True
    if code(rule_type) == EXACT:
        return False
    return any(
        is_match(rule_type, pattern, letter) and is_match(rule_type, pattern, f"{letter} {letter * 2}")
        for letter in _LETTERS
    )
