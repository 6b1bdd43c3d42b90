"""Options that the data of a turn give to choices: a field names the data by a JSON path (`x-options-from`)."""

from collections import Counter
from collections.abc import Mapping, Sequence

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
#: The parts of an option, and of `x-options-from` besides the path.
_PARTS = ("value", "label", "synonyms")
#: Reasons why data give no options: their path leads to nothing, their entries have no value, or they are too many.
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
        options, problem = _read_options(source, entries or ()), None
        if len(options) > MOST_OPTIONS:
            options, problem = [], TOO_MANY_OPTIONS
        elif not options:
            problem = NOTHING_FOUND if entries is None else NO_OPTIONS
        given[path] = given.get(path, []) if entries is None else options
        details = {"schemaId": row.schema_id, "field": path, "path": source.get("path"), "problem": problem}
        # Under the name of the field, which may be masked in the record.
        details |= {"found": len(entries or ()), "count": len(given[path]), "options": {path: given[path]}}
        turn.audit_once(session, FIELD_OPTIONS, dumps(details), **details)
    known = DialogueState.of(session).options
    return update_dialogue(session, options={**known, str(row.schema_id): given})


def _find_entries(session: Session, source: Mapping[str, Json]) -> Sequence[Json] | None:
    """The entries at the path, which leads to a list or to each of its entries. Returns None if it leads to nothing."""
    try:
        matches = compile_path(str(source.get("path"))).find(collect_facts(session))
    except PathError:
        return None
    if len(matches) == 1 and isinstance(matches[0], list):
        return matches[0]
    return [entry for entry in matches if entry is not None] or None


def _read_options(source: Mapping[str, Json], entries: Sequence[Json]) -> Sequence[Mapping[str, Json]]:
    """The options of the entries, each value once. Entries without a value are left out."""
    options: dict[Json, Mapping[str, Json]] = {}
    for entry in entries:
        parts = {key: find_value(entry, str(source[key])) for key in _PARTS if key in source}
        value, words = parts.get("value") if "value" in source else entry, parts.get("synonyms")
        if isinstance(value, (str, int, float)) and value != "":
            label, words = parts.get("label"), words if isinstance(words, list) else [words]
            words = [str(word) for word in words if word not in (None, "")]
            label = str(value if label in (None, "") else label)
            options.setdefault(value, {"value": value, "label": label, "synonyms": words})
    counts = Counter(option["label"] for option in options.values())
    return [option if counts[option["label"]] == 1 else _tell_apart(option) for option in options.values()]


def _tell_apart(option: Mapping[str, Json]) -> Mapping[str, Json]:
    """An option whose label others have, too: its value stands behind the label."""
    label = option["label"]
    return {**option, "label": f"{label} ({option['value']})", "synonyms": [*option["synonyms"], label]}


def find_source_problem(source: Json) -> str | None:
    """Why no data can give options as `x-options-from` says it. Returns None if data can."""
    if not isinstance(source, Mapping) or not isinstance(source.get("path"), str):
        return 'It must be an object with a "path", such as $.container_data.accounts.'
    if lacking := [key for key in _PARTS if key in source and "value" not in source]:
        return f"It has the key of the {lacking[0]}, but not that of the value."
    try:
        compile_path(source["path"])
    except PathError as error:
        return f"“{source['path']}” is not a JSON path: {error.reason} at position {error.position}."
    return None
