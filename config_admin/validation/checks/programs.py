"""Checks of texts that are programs: patterns, paths, templates, JSON (tables 1.7, 1.8; R13 Q-6, R64)."""

import json
import re
from collections.abc import Iterator
from typing import Any

from config_admin.validation import known_names
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from config_admin.validation.relations import UNREADABLE, as_json
from convengine.domain.text import blank
from convengine.prompts import render
from convengine.prompts.convert import convert
from convengine.rules.json_path import PathError, compile_path
from convengine.rules.patterns import PatternError, compile_pattern, double_backslash

#: How many expressions of an older form a message spells out.
_SHOWN = 5
#: A word boundary with a letter beside it that the engine's `\b` does not count as one.
_FOREIGN_BOUNDARY = re.compile(r"(?<!\\)\\b(?P<after>[^\W\d_a-zA-Z])|(?P<before>[^\W\d_a-zA-Z])\\b")


def regex(draft: Draft[Any], field: str, text: str | None) -> Iterator[Finding]:
    """A pattern that the engine can run, and that means what it seems to."""
    if text is None or blank(text):
        return
    try:
        compile_pattern(text)
    except PatternError as error:
        yield draft.error(error.code, field, _pattern_message(error))
        return
    if double_backslash(text):
        yield draft.warning(
            "REGEX_DOUBLE_BACKSLASH",
            field,
            r"\\b looks for a backslash followed by b. For a word boundary write \b.",
        )
    if found := _FOREIGN_BOUNDARY.search(text):
        letter = found["after"] or found["before"]
        yield draft.warning(
            "REGEX_BOUNDARY_ASCII",
            field,
            rf"\b knows the letters a to z only, so it finds no word boundary beside {letter}. "
            r"Write (?:^|\W) or (?:\W|$) instead.",
        )


def _pattern_message(error: PatternError) -> str:
    hint = f" {error.hint}" if error.hint else ""
    if error.code == "REGEX_FLAGS_POSITION":
        return "Flags such as (?i) must stand at the very start. Matching ignores case anyway."
    if error.code == "REGEX_UNSUPPORTED":
        return f"This expression uses something that patterns cannot have here: {error.reason}.{hint}"
    return f"This regular expression does not compile: {error.reason}{_at(error.position)}.{hint}"


def _at(position: int | None) -> str:
    return "" if position is None else f" at position {position}"


def json_path(draft: Draft[Any], field: str, text: str | None) -> Iterator[Finding]:
    """A JSON path that parses."""
    if text is None or blank(text):
        return
    try:
        compile_path(text)
    except PathError as error:
        yield draft.error(
            "JSONPATH_INVALID",
            field,
            f"This JSON path does not parse: {error.reason}{_at(error.position)}. "
            "Example: $[?(@.state == 'CONFIRM' && @.inputParams.ok == true)]",
        )


def json_document(draft: Draft[Any], field: str) -> Iterator[Finding]:
    """A JSON column that came as text can be read."""
    value = getattr(draft.row, field)
    if isinstance(value, str):
        yield from json_text(draft, field, value)


def json_text(draft: Draft[Any], field: str, text: str) -> Iterator[Finding]:
    """A text that is JSON."""
    try:
        json.loads(text)
    except ValueError as error:
        where = f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        yield draft.error("JSON_INVALID", field, f"This is not valid JSON: {reason}{where}.")


def shape(draft: Draft[Any], field: str, wanted: type, message: str, code: str = "SHAPE_INVALID") -> Iterator[Finding]:
    """A JSON column, where it has a value, of the wanted top-level shape."""
    yield from json_document(draft, field)
    value = as_json(getattr(draft.row, field))
    if value is not None and value is not UNREADABLE and not isinstance(value, wanted):
        yield draft.error(code, field, message)


def template(draft: Draft[Any], field: str, text: str | None, *, intent: str, strict: bool = True) -> Iterator[Finding]:
    """A template that parses and uses names that there are; `strict`: an unknown name fails the turn."""
    if text is None or blank(text):
        return
    try:
        render.parse(text)
    except render.TemplateError as error:
        yield draft.error(
            "TEMPLATE_INVALID", field, f"The template does not parse: {error.reason}{_at(error.position)}."
        )
        return
    if changes := convert(text).changes:
        shown = "; ".join(f"{before} becomes {after}" for before, after in changes[:_SHOWN])
        more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
        yield draft.warning("TEMPLATE_OLDER_FORM", field, f"Saving stores this as Jinja2: {shown}{more}.")
    consequence = (
        "The turn fails with UNRESOLVED_PROMPT_VARIABLE if nothing sets it."
        if strict
        else "Nothing is shown in its place if nothing sets it."
    )
    for name in sorted(known_names.unknown(draft.snapshot, render.names(text), intent)):
        yield draft.warning(
            "TEMPLATE_VAR_UNKNOWN",
            field,
            f"{name} is not a name the engine provides, nor a field of this intent's schema. {consequence}",
        )
