"""Chapters of settings and of codes: save checks, API errors and tool errors."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from config_admin.manual.entry import Chapter, Entry
from config_admin.validation.codes import CODES, HEALTH_CODES
from config_admin.validation.settings import describe_allowed_values, format_value
from convengine.engine.steps.tools.fault import FAULTS
from convengine.engine.turn.labels import in_words
from convengine.engine.turn.live_settings import CATALOGUE, Setting
from convengine.server.api.failures import turn_failures
from convengine.server.settings_catalogue import TITLES

SETTINGS, CODES_PART = "Settings", "Codes"


def chapters() -> Iterator[Chapter]:
    """A chapter for each family of settings, then the codes."""
    order = list(TITLES)
    known = sorted(CATALOGUE.values(), key=lambda one: order.index(one.type) if one.type in order else len(order))
    for family, found in groupby(known, key=lambda one: one.type):
        title = TITLES.get(family, family)
        yield Chapter(f"settings-{family}", title, f"Settings of type {family}.", tuple(map(_setting, found)), SETTINGS)
    about = "Messages at a field when a row is saved. Errors prevent saving. Warnings ask for confirmation once."
    yield Chapter("checks", "Codes of save checks", about, tuple(_checks()), CODES_PART)
    about = "Findings of the health check, in addition to the save checks."
    yield Chapter("health", "Codes of the health check", about, tuple(_health()), CODES_PART)
    about = "Values of `errorCode` in the answers of failed calls and in the records of failed turns."
    yield Chapter("errors", "Codes of failed turns and calls", about, tuple(_errors()), CODES_PART)
    about = "Values of `tool_result.error_type` for rules and answers. A failed tool never fails the turn."
    yield Chapter("tool-errors", "Codes of failed tools", about, tuple(_faults()), CODES_PART)


def _setting(one: Setting[Any]) -> Entry:
    facts = [
        ("Default", format_value(one.kind, one.default) or "blank"),
        ("Allowed", describe_allowed_values(one.kind)),
    ]
    if one.qualifier:
        facts.append(("Can be set per", one.qualifier))
    if one.mark == "LR":
        facts.append(("Changed by", "configuration administrators only"))
    return Entry(f"setting.{one.name}", in_words(one.key), one.help, one.name, tuple(facts))


def _checks() -> Iterator[Entry]:
    for code, text in sorted(CODES.items()):
        yield Entry(f"check.{code}", in_words(code), text, code)


def _health() -> Iterator[Entry]:
    for code, text in sorted(HEALTH_CODES.items()):
        yield Entry(f"health.{code}", in_words(code), text, code)


def _errors() -> Iterator[Entry]:
    for one in sorted(turn_failures(), key=lambda each: each.code):
        again = "yes" if one.recoverable else "no"
        facts = (("Status", str(one.status)), ("May succeed when tried again", again))
        yield Entry(f"error.{one.code}", in_words(one.code), one.meaning.replace("`", ""), one.code, facts)


def _faults() -> Iterator[Entry]:
    for code, text in sorted(FAULTS.items()):
        yield Entry(f"tool-error.{code}", in_words(code), text, code)
