"""Options that the data of a turn give to choices: a field names the data by a JSON path (`x-options-from`)."""

from collections.abc import Iterator, Mapping, Sequence

from convengine.engine.forms.form import get_form
from convengine.engine.forms.message import find_open_schema
from convengine.engine.forms.session_form import find_value
from convengine.engine.forms.stages import FIELD_OPTIONS
from convengine.engine.rules.conditions.evaluate import compile_path
from convengine.engine.rules.conditions.nodes import PathError
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.facts import collect_facts
from convengine.engine.turn.field_options import list_given_options
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

MOST_OPTIONS = 200
#: Why data give no options: the path leads to nothing or is none, no entry has a value, or there are too many.
NOTHING_FOUND, NO_OPTIONS, TOO_MANY_OPTIONS = "NOTHING_FOUND", "NO_OPTIONS", "TOO_MANY_OPTIONS"


def resolve_options(session: Session, turn: Turn) -> Session:
    """The session in which the choices of the open form have the options that the data give; writes FIELD_OPTIONS.

    While the path of a field leads to nothing, the options that the data gave last stay.
    """
    row = find_open_schema(session, turn)
    sources = get_form(turn.snapshot, row).option_sources if row else {}
    if row is None or not sources:
        return session
    given = dict(list_given_options(session, row))
    for path, source in sources.items():
        entries = _find_entries(session, source)
        options = list(_read_options(source, entries))
        problem = None
        if not options:
            problem = NO_OPTIONS if entries is not None else NOTHING_FOUND
        elif len(options) > MOST_OPTIONS:
            problem = TOO_MANY_OPTIONS
        if problem == NOTHING_FOUND:
            given.setdefault(path, [])
        else:
            given[path] = [] if problem else options
        details = {
            "schemaId": row.schema_id,
            "field": path,
            "path": source.get("path"),
            "problem": problem,
            "found": len(entries or ()),
            "count": len(given[path]),
            "options": given[path],
        }
        turn.audit_once(session, FIELD_OPTIONS, dumps(details), **details)
    known = DialogueState.of(session).options
    return update_dialogue(session, options={**known, str(row.schema_id): given})


def _find_entries(session: Session, source: Mapping[str, Json]) -> Sequence[Json] | None:
    """The entries at the path, which leads to a list or to each of its entries. Returns None if it leads to nothing."""
    try:
        found = compile_path(str(source.get("path"))).find(collect_facts(session))
    except PathError:
        return None
    if len(found) == 1 and isinstance(found[0], (list, tuple)):
        return found[0]
    return [entry for entry in found if entry is not None] or None


def _read_options(source: Mapping[str, Json], entries: Sequence[Json] | None) -> Iterator[Mapping[str, Json]]:
    """The options of the entries, each value once. Entries without a value are left out."""
    values: set[Json] = set()
    for entry in entries or ():
        value = _find_part(source, "value", entry) if "value" in source else entry
        if not isinstance(value, (str, int, float)) or value in ("", *values):
            continue
        values.add(value)
        label, words = (_find_part(source, key, entry) for key in ("label", "synonyms"))
        words = words if isinstance(words, (list, tuple)) else [words]
        yield {
            "value": value,
            "label": str(value if label in (None, "") else label),
            "synonyms": [str(word) for word in words if word not in (None, "")],
        }


def _find_part(source: Mapping[str, Json], part: str, entry: Json) -> Json:
    return find_value(entry, str(source[part])) if part in source and isinstance(entry, Mapping) else None


def find_source_problem(source: Json) -> str | None:
    """Why no data can give options as `x-options-from` says it. Returns None if data can."""
    if not isinstance(source, Mapping) or not isinstance(source.get("path"), str):
        return 'It must be an object with a "path", such as $.container_data.accounts.'
    if lacking := [key for key in ("label", "synonyms") if key in source and "value" not in source]:
        return f"It has the key of the {lacking[0]}, but not that of the value."
    try:
        compile_path(source["path"])
    except PathError as error:
        return f"“{source['path']}” is not a JSON path: {error.reason} at position {error.position}."
    return None
