"""Store a flow as one release: a new one, or the difference to the flow that exists."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from config_admin.flows.document import Document, FlowRefused, Values, check_flow
from config_admin.flows.languages import list_flow_languages, merge_translations
from config_admin.flows.mapping import normalise_flow, number_question, write_rows
from config_admin.flows.reading import FlowReading, index_by_identity, read_flow, read_languages
from config_admin.releases.active import snapshots
from config_admin.releases.changes import Author
from config_admin.transfer import document as transfer
from config_admin.transfer.ancestry import find_release
from config_admin.transfer.apply_import import ImportResult, add_rows, import_document
from config_admin.validation.stored_columns import control_plane
from config_admin.validation.translations import COLUMN
from convengine.engine.forms.settings import COUNTRY
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot

#: Rights to these tables are needed: to add rows, and for a flow that exists, to change and delete them.
_TABLES = ("ce_intent", "ce_intent_classifier", "ce_rule", "ce_response", "ce_output_schema")
_ABSENT = object()


def list_flow_rights(*actions: str) -> list[str]:
    """The rights to these actions on every table of a flow."""
    return list_rights(_TABLES, *actions)


def list_rights(tables: Iterable[str], *actions: str) -> list[str]:
    metas = [control_plane()[table]._meta for table in tables]
    return [f"{meta.app_label}.{action}_{meta.model_name}" for action in actions for meta in metas]


def create_flow(flow: Document, *, author: Author, reason: str) -> ImportResult:
    """Store a new flow; one that is stored already changes nothing.

    Raises FlowRefused, ImportRefused and ImportFailed.
    """
    rows_of_flow = write_rows(flow)
    snapshot = snapshots.current()
    if snapshot.row(rows.Intent, flow["code"]) is not None:
        reading = read_flow(snapshot, flow["code"])
        if reading is None or normalise_flow(flow) != reading.document:
            raise FlowRefused([f"code: {flow['code']} already exists. Update it, or choose another code."])
    return add_rows(rows_of_flow, author=author, reason=reason)


def store_country(country: str) -> None:
    """Store the country of the customers for all forms. Call it in a change set."""
    settings: Any = control_plane()[rows.Config.table]._default_manager
    settings.update_or_create(
        config_type=COUNTRY.type, config_key=COUNTRY.key, defaults={"config_value": country, "enabled": True}
    )


def update_flow(
    flow: Document, *, author: Author, reason: str, switch_on: bool = True, overwrite: bool = False
) -> ImportResult:
    """Let an existing flow become this document. Raises FlowRefused and ImportRefused.

    `switch_on`: if all its phrases are off, as those of a copy are, they are switched on. `overwrite`: also where the
    flow has changed since the document's base.
    """
    check_flow(flow)
    snapshot = snapshots.current()
    reading = read_flow(snapshot, flow["code"])
    if reading is None:
        raise FlowRefused([f"code: {flow['code']} is not an existing flow. Create it, or choose another code."])
    if not overwrite and (problems := list(_find_lost_changes(flow, reading))):
        raise FlowRefused(problems)
    document = plan_flow(snapshot, reading, flow, switch_on=switch_on)
    return import_document(document, author=author, reason=reason)


def _find_lost_changes(flow: Document, reading: FlowReading) -> Iterator[str]:
    """A line for each part of the flow that changed since the base, and that the document would take back."""
    version = find_release(transfer.BaseRelease(**flow["base"])) if "base" in flow else None
    if version is None:
        return
    base = read_flow(snapshots.at(version), reading.document["code"])
    before, now, new = (_split_fields(document) for document in (base.document if base else {}, reading.document, flow))
    for part in dict.fromkeys((*now, *before)):
        if now.get(part) != before.get(part) and new.get(part) != now.get(part):
            yield (
                f"{part}: changed here after release {version}, on which the document is based (BASE_MOVED). "
                "Export the flow again and repeat your edit, or overwrite this flow (--overwrite)."
            )


def _split_fields(flow: Document) -> Values:
    """The parts of a document, each field by its name."""
    normal = normalise_flow(flow) if flow else {}
    fields = {f"field {field['name']}": field for field in normal.pop("fields", ())}
    return {**normal, **fields}


def plan_flow(
    snapshot: Snapshot, reading: FlowReading | None, flow: Document, *, switch_on: bool = True
) -> transfer.Document:
    """The rows to add, change and delete. Values that were set by hand stay. Raises FlowRefused.

    `reading`: the flow that becomes this document; None for a new one. `switch_on`: if all phrases of that flow are
    off, they are switched on.
    """
    if reading is None:
        return transfer.Document(transfer.locate_rows(write_rows(flow)), transfer.ImportMode.ADD)
    new = index_by_identity(write_rows(flow, _match_questions(snapshot, reading, flow)))
    languages, written = list_flow_languages(flow)[1:], reading.written
    if languages:
        written = index_by_identity(write_rows(read_languages(snapshot, reading), reading.question_codes))
    if reading.is_off:
        new = {
            identity: {**values, "enabled": switch_on} if identity[0] == rows.Classifier.table else values
            for identity, values in new.items()
        }
    tables: dict[str, list[Values]] = {}
    for identity, values in new.items():
        table, old = identity[0], written.get(identity)
        if old is None:
            tables.setdefault(table, []).append(values)
        elif identity in reading.stored:
            row, changes = reading.stored[identity], tables.setdefault(table, [])
            if changed := _merge_row(row, old, values, languages):
                changes.append({row.key: row.pk, **changed})
    deleted: dict[str, list[Any]] = {}
    for identity, row in reading.stored.items():
        if identity not in new:
            deleted.setdefault(row.table, []).append(row.pk)
    located = transfer.locate_rows(tables)
    return transfer.Document(located, transfer.ImportMode.UPDATE, matches_by_key=False, deleted=deleted)


def _merge_row(row: rows.Row, old: Values, new: Values, languages: Sequence[str]) -> Values:
    """The columns of a stored row that change. `languages`: those whose translations the document has."""
    merged = {
        key: merge_value(getattr(row, key), old.get(key, _ABSENT), each) for key, each in new.items() if key != COLUMN
    }
    if languages and isinstance(row, rows.SpokenRow):
        merged[COLUMN] = merge_translations(row.translations, old.get(COLUMN), new.get(COLUMN), languages)
    return {name: value for name, value in merged.items() if value != getattr(row, name)}


def merge_value(stored: Any, old: Any, new: Any) -> Any:
    """The new value, with what was changed by hand since the old one was written."""
    if stored == old or new == stored:
        return new
    if isinstance(stored, Mapping) and isinstance(old, Mapping) and isinstance(new, Mapping):
        merged = {
            key: merge_value(stored.get(key, _ABSENT), old.get(key, _ABSENT), new.get(key, _ABSENT))
            for key in dict.fromkeys((*new, *stored))
        }
        return {key: value for key, value in merged.items() if value is not _ABSENT}
    if new == old:
        return stored
    if all(isinstance(value, list) and _is_hashable(value) for value in (stored, old, new)):
        return [*new, *(value for value in stored if value not in old and value not in new)]
    return new


def _is_hashable(values: Sequence[Any]) -> bool:
    return all(isinstance(value, Hashable) for value in values)


def _match_questions(snapshot: Snapshot, reading: FlowReading, flow: Document) -> list[str]:
    """The intent of each question in between: that of an equal question or answer, else a new one."""
    stored = dict(zip(reading.question_codes, reading.document.get("questions_and_answers", ()), strict=True))
    items = normalise_flow(flow).get("questions_and_answers", ())
    codes: list[str | None] = [None] * len(items)
    for shares in (_shares_question, _shares_answer):
        for position, item in enumerate(items):
            if codes[position] is None:
                free = (name for name, known in stored.items() if name not in codes and shares(item, known))
                codes[position] = next(free, None)
    names = (number_question(reading.document["code"], number) for number in count(1))
    new_names = (name for name in names if snapshot.row(rows.Intent, name) is None)
    return [known or next(new_names) for known in codes]


def _shares_question(item: Document, known: Document) -> bool:
    return not set(item["questions"]).isdisjoint(known["questions"])


def _shares_answer(item: Document, known: Document) -> bool:
    return bool(item["answer"] == known["answer"])
