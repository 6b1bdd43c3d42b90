"""Chapters of settings, and of codes: what save checks, calls of the API and tools say when something is wrong."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import convengine.domain.catalogue  # noqa: F401  (completes the catalogue)
from config_admin.admin.editing.pickers import allowed
from config_admin.admin.places.effective import as_written
from config_admin.health.codes import HEALTH_CODES
from config_admin.manual.entry import Chapter, Entry, in_words
from config_admin.validation.codes import CODES
from convengine.api.failures import turn_failures
from convengine.domain.catalogue.families import TITLES
from convengine.domain.settings import CATALOGUE, Setting
from convengine.tools.fault import FAULTS

SETTINGS, CODES_PART = "Settings", "Codes"


def chapters() -> Iterator[Chapter]:
    """A chapter for each family of settings, then the codes."""
    order = list(TITLES)
    known = sorted(CATALOGUE.values(), key=lambda one: order.index(one.type) if one.type in order else len(order))
    for family, found in groupby(known, key=lambda one: one.type):
        title = TITLES.get(family, family)
        yield Chapter(f"settings-{family}", title, f"Settings of type {family}.", tuple(map(_setting, found)), SETTINGS)
    about = "What is said at a field when a row is saved. Errors keep it from being saved, warnings ask once."
    yield Chapter("checks", "Codes of save checks", about, tuple(_checks()), CODES_PART)
    about = "What the check of the whole configuration says beside the codes of save checks."
    yield Chapter("health", "Codes of the health check", about, tuple(_health()), CODES_PART)
    about = "What a failed call answers as `errorCode`, and the record of a failed turn."
    yield Chapter("errors", "Codes of failed turns and calls", about, tuple(_errors()), CODES_PART)
    about = "What rules and answers see as `tool_result.error_type`. No tool fails a turn."
    yield Chapter("tool-errors", "Codes of failed tools", about, tuple(_faults()), CODES_PART)


def _setting(one: Setting[Any]) -> Entry:
    facts = [("Default", as_written(one.kind, one.default) or "blank"), ("Allowed", allowed(one.kind))]
    if one.qualifier:
        facts.append(("May differ by", one.qualifier))
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
