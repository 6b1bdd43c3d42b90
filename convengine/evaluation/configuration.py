"""How well a configuration understands labelled messages, and its own phrases without themselves.

The values of fields are taken, offered, refused, missed, wrong or invented.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convengine.engine.text.compare import blank, code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.local_time import LANGUAGES, LOCALE
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.language import list_own_languages
from convengine.evaluation.cross_validation import FOLDS, Progress, cross_validate
from convengine.evaluation.intents import decide_by, make_phrases, name_intents
from convengine.evaluation.labelled import LabelledMessage
from convengine.evaluation.measures import IntentOutcome, summarize_intents, summarize_languages
from convengine.evaluation.read import CorpusReader, EvaluationError
from convengine.evaluation.read_score import ReadOutcome, judge
from convengine.files.json_text import read_json_or
from convengine.json_value import Json

#: Names that a note lists.
_NAMED = 5
#: The schema types whose values a table of texts writes as JSON.
_TYPED = frozenset({"integer", "number", "boolean", "array"})
#: The result that reports show for a right value.
_TAKEN = "taken"


def validate_configuration(snapshot: Snapshot, *, folds: int = FOLDS, report: Progress) -> dict[str, Any]:
    """Cross-validate the phrases of a configuration; its patterns and forms take part. Raises EvaluationError."""
    return _validate(_list_phrases(snapshot), snapshot, folds, report)


def validate_messages(messages: Sequence[LabelledMessage], *, folds: int = FOLDS, report: Progress) -> dict[str, Any]:
    """Cross-validate labelled messages as if they were the phrases of a configuration. Raises EvaluationError."""
    texts: dict[str, list[str]] = {}
    for message in messages:
        if message.intent:
            texts.setdefault(message.intent, []).append(message.text)
    return _validate(make_phrases(texts), None, folds, report)


def evaluate_messages(snapshot: Snapshot, messages: Sequence[LabelledMessage], *, report: Progress) -> dict[str, Any]:
    """What labelled messages lead to as the first of a conversation, and what is read of their fields."""
    # An answer to a question begins no conversation.
    labelled = [message for message in messages if message.intent is not None and "asked" not in message.situation]
    fields, left_out = _read_fields(snapshot, messages)
    names, decide = name_intents(snapshot.rows(rows.Classifier)), decide_by(snapshot)
    outcomes = []
    for done, message in enumerate(labelled, 1):
        intent = "" if code(message.intent) in ("", UNKNOWN) else names.get(code(message.intent), message.intent or "")
        outcomes.append(IntentOutcome(message.text, intent, decide(message.text), source=message.source))
        report(done, len(labelled))
    unknown = sorted({outcome.intent for outcome in outcomes if outcome.intent} - {*names.values()})
    return {
        "kind": "messages",
        "notes": [*_note("Intents without a phrase, which no message can lead to", unknown), *left_out],
        "intents": _summarize(outcomes, snapshot) if outcomes else None,
        "fields": _summarize_fields(fields) if fields else None,
    }


def _validate(
    phrases: Sequence[rows.Classifier], snapshot: Snapshot | None, folds: int, report: Progress
) -> dict[str, Any]:
    result = cross_validate(phrases, snapshot, folds=folds, report=report)
    if not result.outcomes:
        raise EvaluationError("There is nothing to cross-validate: no intent has two different phrases.")
    return {
        "kind": "cross-validation",
        "notes": _note("Not measured, because they have a single phrase", result.single),
        "intents": _summarize(result.outcomes, snapshot),
        "fields": None,
    }


def _summarize(outcomes: Sequence[IntentOutcome], snapshot: Snapshot | None) -> dict[str, Any]:
    """The measures of intents; where users may speak several languages, of each language, too."""
    measures = summarize_intents(outcomes)
    if snapshot is None or len(live_settings.read(snapshot, LANGUAGES).value) < 2:
        return measures
    return {**measures, "languages": summarize_languages(outcomes, list_own_languages(snapshot))}


def _list_phrases(snapshot: Snapshot) -> Sequence[rows.Classifier]:
    """The enabled phrases of the intents in use."""
    return [
        row
        for row in snapshot.enabled_rows(rows.Classifier)
        if row.is_phrase
        and not blank(row.pattern)
        and snapshot.is_active(row.intent_code)
        and code(row.intent_code) not in (ANY, UNKNOWN, "")
    ]


def _note(text: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [f"{text}: {', '.join(names[:_NAMED])}{more}."]


def _read_fields(snapshot: Snapshot, messages: Sequence[LabelledMessage]) -> tuple[list[dict[str, Any]], list[str]]:
    """Read the messages with labelled values into the forms of their intents; and what no form has, in words."""
    forms: defaultdict[str, list[Mapping[str, Json]]] = defaultdict(list)
    for row in snapshot.enabled_rows(rows.OutputSchema):
        if isinstance(row.json_schema, Mapping):
            forms[code(row.intent_code)].append(row.json_schema)
    reader, locale = CorpusReader({}), live_settings.read(snapshot, LOCALE).value
    outcomes: list[dict[str, Any]] = []
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
) -> Iterator[dict[str, Any]]:
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
        yield {
            "intent": message.intent or "",
            "field": name,
            "outcome": _name(outcome),
            "expected": expected.get(name),
            "read": values_read.get(name),
            "message": message.text,
            "source": message.source,
        }


def _convert(value: Json, declared: Json) -> Json:
    """A value of a table, which holds texts alone, as its field has it."""
    if not isinstance(value, str) or not isinstance(declared, Mapping) or declared.get("type") not in _TYPED:
        return value
    return read_json_or(value, value)


def _summarize_fields(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The measures of fields as a document of JSON, with the messages whose values were not taken."""
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for each in outcomes:
        counts[each["intent"], each["field"]][each["outcome"]] += 1
    total = sum(counts.values(), Counter())
    values = total.total() - total[ReadOutcome.INVENTED]
    fields: list[dict[str, Any]] = []
    for (intent, name), own in counts.items():
        by_outcome = {outcome: own[outcome] for outcome in map(_name, ReadOutcome)}
        fields.append(
            {"intent": intent, "field": name, "values": own.total() - own[ReadOutcome.INVENTED], **by_outcome}
        )
    return {
        "values": values,
        "taken": round(total[_TAKEN] / values, 4) if values else None,
        "fields": sorted(fields, key=lambda each: (each["taken"] - each["values"] - each["invented"], each["field"])),
        "faults": [each for each in outcomes if each["outcome"] != _TAKEN],
    }


def _name(outcome: ReadOutcome) -> str:
    return _TAKEN if outcome is ReadOutcome.RIGHT else outcome.value
