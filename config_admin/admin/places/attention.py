"""What needs somebody's attention, found from the configuration in force without looking at every check."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import convengine.domain.catalogue  # noqa: F401  (completes the catalogue)
from config_admin.admin.links import row_name, row_url
from config_admin.validation import relations
from convengine.domain import rows, settings
from convengine.domain.scope import UNKNOWN
from convengine.domain.snapshot import Snapshot
from convengine.rules.explain import faults


class Concern(NamedTuple):
    """Something to look at: what it is about, where that stands, and what is the matter."""

    name: str
    url: str
    text: str


def concerns(snapshot: Snapshot) -> Iterator[Concern]:
    """The worst first: no answer at all, rows and settings that are not used, rows of intents that are off."""
    if not snapshot.in_scope(rows.Response, UNKNOWN, UNKNOWN):
        text = "No answer is switched on for messages that nothing else understands (UNKNOWN / UNKNOWN)."
        yield Concern("Responses", "", text)
    for row, fault in faults(snapshot):
        text = f"No turn uses it: {fault.reason}. {fault.remedy or ''}".strip()
        yield Concern(row_name(row.table, row.pk), row_url(row.table, row.pk), text)
    yield from _settings(snapshot)
    yield from _idle(snapshot)


def _settings(snapshot: Snapshot) -> Iterator[Concern]:
    for setting in settings.CATALOGUE.values():
        reading = settings.read(snapshot, setting)
        if reading.problem:
            url = row_url(reading.row.table, reading.row.pk) if reading.row else ""
            yield Concern(setting.name, url, f"Its value {reading.problem} The default is used instead.")


def _idle(snapshot: Snapshot) -> Iterator[Concern]:
    known = snapshot.table(rows.Intent).by_pk
    for intent, count in sorted(_waiting(snapshot).items()):
        counted = "1 row that is switched on takes" if count == 1 else f"{count} rows that are switched on take"
        why = "the intent is switched off" if intent in known else "there is no such intent"
        url = row_url(rows.Intent.table, intent) if intent in known else ""
        yield Concern(f"Intent {intent}", url, f"{counted} no part, because {why}.")


def _waiting(snapshot: Snapshot) -> dict[str, int]:
    found: dict[str, int] = {}
    for row_type in _of_intents():
        for intent, members in snapshot.index(row_type, relations.intent_key, relations.rank).items():
            if not snapshot.is_active(intent):
                found[intent] = found.get(intent, 0) + len(members)
    return found


def _of_intents() -> Iterable[type[rows.Row]]:
    return (kind for kind in rows.ROW_TYPES if kind is not rows.Intent and "intent_code" in rows.columns(kind))
