"""What is read of the fields of labelled messages: taken, offered, refused, missed, wrong or invented."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.engine.text.compare import code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.local_time import LOCALE
from convengine.engine.turn.snapshot import Snapshot
from convengine.evaluation.labelled import LabelledMessage
from convengine.evaluation.read import CorpusReader, EvaluationError
from convengine.evaluation.read_score import Outcome, judge
from convengine.files.json_text import read_json_or
from convengine.json_value import Json

#: The schema types whose values a table of texts writes as JSON.
_TYPED = frozenset({"integer", "number", "boolean", "array"})

#: Fields that a note lists.
_NAMED = 5


@dataclass(frozen=True)
class FieldOutcome:
    """A value of a message, and what was made of it."""

    intent: str
    field: str
    outcome: Outcome
    expected: Json
    read: Json
    message: LabelledMessage


def read_fields(snapshot: Snapshot, messages: Sequence[LabelledMessage]) -> tuple[list[FieldOutcome], list[str]]:
    """Read the messages with labelled values into the forms of their intents; and what no form has, in words."""
    forms: defaultdict[str, list[Mapping[str, Json]]] = defaultdict(list)
    for row in snapshot.enabled_rows(rows.OutputSchema):
        if isinstance(row.json_schema, Mapping):
            forms[code(row.intent_code)].append(row.json_schema)
    reader, locale = CorpusReader({}), live_settings.read(snapshot, LOCALE).value
    outcomes: list[FieldOutcome] = []
    homeless: Counter[str] = Counter()
    for message in messages:
        if message.values:
            intent = code(message.intent)
            names = message.values.keys()
            schema: Mapping[str, Json] = max(
                forms.get(intent, ()), key=lambda form: len(names & form.get("properties", {}).keys()), default={}
            )
            known = {name: value for name, value in message.values.items() if name in schema.get("properties", {})}
            homeless.update(
                f"{name} of {intent}" if intent else f"{name} without an intent"
                for name in message.values
                if name not in known
            )
            if known:
                outcomes += _read(reader, schema, message, known, locale)
    listed = ", ".join(f"{name} ({count})" for name, count in homeless.most_common(_NAMED))
    return outcomes, [f"Left out, because no form of the intent has the field: {listed}."] if homeless else []


def _read(
    reader: CorpusReader,
    schema: Mapping[str, Json],
    message: LabelledMessage,
    values: Mapping[str, Json],
    locale: str,
) -> Iterator[FieldOutcome]:
    expected = {name: _convert(value, schema["properties"][name]) for name, value in values.items()}
    line: dict[str, Json] = {
        "locale": locale,
        "opener": "asked" not in message.situation,
        **message.situation,
        "form": schema,
        "say": message.text,
        "values": expected,
    }
    try:
        result = reader.read(line)
    except ValueError as error:
        raise EvaluationError(f"{message.source}: {error}") from None
    values_read = {**result.refused, **result.offered, **result.taken}
    for name, outcome in judge(line, result).items():
        value = values_read.get(name)
        yield FieldOutcome(message.intent or "", name, outcome, expected.get(name), value, message)


def _convert(value: Json, declared: Json) -> Json:
    """A value of a table, which holds texts alone, as its field has it."""
    if not isinstance(value, str) or not isinstance(declared, Mapping) or declared.get("type") not in _TYPED:
        return value
    return read_json_or(value, value)


def summarize_fields(outcomes: Sequence[FieldOutcome]) -> dict[str, Any]:
    """The measures of fields as a document of JSON, with the messages whose values were not taken."""
    counts: defaultdict[tuple[str, str], Counter[Outcome]] = defaultdict(Counter)
    for each in outcomes:
        counts[each.intent, each.field][each.outcome] += 1
    total = sum(counts.values(), Counter())
    values = total.total() - total[Outcome.INVENTED]
    fields = []
    for (intent, name), own in counts.items():
        named: dict[str, Any] = {_name(outcome): own[outcome] for outcome in Outcome}
        fields.append({"intent": intent, "field": name, "values": own.total() - own[Outcome.INVENTED], **named})
    return {
        "values": values,
        "taken": round(total[Outcome.RIGHT] / values, 4) if values else None,
        "fields": sorted(fields, key=lambda each: (each["taken"] - each["values"] - each["invented"], each["field"])),
        "faults": [_describe(each) for each in outcomes if each.outcome is not Outcome.RIGHT],
    }


def _name(outcome: Outcome) -> str:
    return "taken" if outcome is Outcome.RIGHT else outcome.value


def _describe(each: FieldOutcome) -> dict[str, Any]:
    return {
        "intent": each.intent,
        "field": each.field,
        "outcome": _name(each.outcome),
        "expected": each.expected,
        "read": each.read,
        "message": each.message.text,
        "source": each.message.source,
    }
