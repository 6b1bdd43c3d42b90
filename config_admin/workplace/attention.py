"""What needs attention, from the configuration in force, without running every check."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from config_admin.editing.links import row_name, row_url
from config_admin.validation import relations
from convengine.engine.rules.explain import list_faults
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.snapshot import Snapshot


class Concern(NamedTuple):
    """Something that needs attention: its subject, its link, and the problem."""

    name: str
    url: str
    text: str


def concerns(snapshot: Snapshot) -> Iterator[Concern]:
    """The worst first: no answer at all, unused rows and settings, rows of disabled intents."""
    if not snapshot.in_scope(rows.Response, UNKNOWN, UNKNOWN):
        text = "No answer is enabled for messages that are not recognised (intent UNKNOWN, state UNKNOWN)."
        yield Concern("Responses", "", text)
    for row, fault in list_faults(snapshot):
        text = f"It is invalid, so no turn uses it: {fault.reason}. {fault.remedy or ''}".strip()
        yield Concern(row_name(row.table, row.pk), row_url(row.table, row.pk), text)
    yield from _settings(snapshot)
    yield from _idle(snapshot)


def _settings(snapshot: Snapshot) -> Iterator[Concern]:
    for setting in live_settings.CATALOGUE.values():
        reading = live_settings.read(snapshot, setting)
        if reading.problem:
            url = row_url(reading.row.table, reading.row.pk) if reading.row else ""
            yield Concern(setting.name, url, f"Its value {reading.problem} The default is used instead.")


def _idle(snapshot: Snapshot) -> Iterator[Concern]:
    known = snapshot.table(rows.Intent).by_pk
    for intent, count in sorted(_waiting(snapshot).items()):
        counted = "1 enabled row is" if count == 1 else f"{count} enabled rows are"
        why = "the intent is disabled" if intent in known else "the intent does not exist"
        url = row_url(rows.Intent.table, intent) if intent in known else ""
        yield Concern(f"Intent {intent}", url, f"{counted} not used, because {why}.")


def _waiting(snapshot: Snapshot) -> dict[str, int]:
    found: dict[str, int] = {}
    for row_type in _of_intents():
        for intent, members in snapshot.index(row_type, relations.intent_key, relations.rank).items():
            if not snapshot.is_active(intent):
                found[intent] = found.get(intent, 0) + len(members)
    return found


def _of_intents() -> Iterable[type[rows.Row]]:
    return (kind for kind in rows.ROW_TYPES if kind is not rows.Intent and "intent_code" in rows.columns(kind))
