"""Check an account against the turn's events: the cited event has each row, value and outcome of a sentence."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from audit.narration import Fact, Sentence, narrate_turn
from audit.narration.decisions import build_decisions
from audit.narration.phrases import PHRASES, find_phrase
from audit.narration.wording import FIELD_FORMATS, FORMATS, row_name, write_fields
from audit.record.events import Event, expand_events
from audit.timeline.explained_turn import list_compared_texts
from convengine.engine.forms.form import get_form
from convengine.engine.rules.conditions.words import claim_words, comparison_sentence, fact_name, negated_sentence
from convengine.engine.rules.pattern_examples import describe_compared_pattern
from convengine.engine.stages import STAGES
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.labels import state_label
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.record_columns import quote_intent
from convengine.server.interfaces.configuration import configuration
from tests import record
from tests.outcomes import Outcome, list_contradictions
from tests.phrase_accounts import list_false_statements

#: What code writes are words: numbers, codes and quotations come from events.
_NAMED = re.compile(r"\d|\b[A-Z][A-Z_]{2,}\b|“")
#: How many texts are explained word by word.
_MOST_TEXTS = 10
#: The decision that a stage's row won, and the path of the row in the payload of the stage.
_WINNERS: Mapping[str, tuple[str, str]] = {
    "INTENT_CLASSIFICATION_MATCHED": ("CLASSIFIER", "matchedByRule"),
    "RESOLVE_RESPONSE_SELECTED": ("TEMPLATE", "templateId"),
    "POLICY_MATCH": ("POLICY", "policyId"),
}
#: Words of an outcome, by kind of sentence: which payloads allow them.
_OUTCOMES: Mapping[str, Sequence[tuple[str, Any]]] = {
    "SET_STATE": [
        (" changed the state ", lambda payload: payload["fromState"] != payload["toState"]),
        (" kept the state ", lambda payload: payload["fromState"] == payload["toState"]),
    ],
    "SET_INTENT": [
        (" changed the intent ", lambda payload: payload["fromIntent"] != payload["toIntent"]),
        (" kept the intent ", lambda payload: payload["fromIntent"] == payload["toIntent"]),
    ],
    "ASSISTANT_OUTPUT": [
        ("Asked the user which intent", lambda payload: payload["responseType"] == "COLLISION"),
        ("Asked the user: ", lambda payload: payload["responseType"] == "QUESTION"),
        ("Answered with the fallback text instead of ", lambda payload: "responseId" in payload),
        ("Answered with the text of ", lambda payload: payload["responseType"] == "POLICY"),
        ("Answered with ", lambda payload: "responseId" in payload or payload["responseType"] == "POLICY"),
        ("Answered", lambda payload: payload["responseType"] != "COLLISION"),
    ],
}
#: The words before the reason of an action; its comparisons are facts.
_REASON = re.compile(r"(, because | \().*", re.DOTALL)
#: Words of parts that are not in the template, beside their facts: lists, actions, and what the user said or chose.
_JOINTS = frozenset({",", ".", "and", "the", "action", "user", "chose", "it", "with"})
#: A cause of a changed intent. No template has its words.
_CAUSE = "answered the question which intent is meant"
#: The words for the reason of a row that matched and lost.
_LOSSES = {"LOWER_PRIORITY": ("lower priority", "the same priority, but comes later")}
#: The words before the rows that matched and lost.
_LOSERS_FOLLOW = "."


def unfounded_anywhere(**wanted: Any) -> Iterator[str]:
    """What is wrong with the account of any stored turn that fits; one that says nothing is wrong, too."""
    yield from list_unfounded(expand_events(record.events(**wanted)))


def list_unfounded(recorded: Iterable[Event]) -> Iterator[str]:
    """What is wrong with the accounts of some turns, whose events come turn by turn."""
    seen: set[str] = set()
    for (_, turn_no), group in groupby(recorded, lambda event: (event.row.conversation_id, event.row.turn_no)):
        events = list(group)
        told = narrate_turn(events)
        if not told:
            yield f"turn {turn_no}: nothing is told"
        snapshot = configuration().at(events[0].row.config_version or 0)
        yield from list_unfounded_sentences(told, events, snapshot)
        yield from list_wrong_decisions(events, snapshot)
        yield from list_contradictions(read_outcome(events, snapshot), [sentence.text for sentence in told])
        yield from _list_false_accounts(events, snapshot, seen)


def _list_false_accounts(events: Sequence[Event], snapshot: Snapshot, seen: set[str]) -> Iterator[str]:
    """What is not so in the accounts of what a turn compared with phrases; of the first texts, as each takes long."""
    for compared in list_compared_texts(events, snapshot):
        if len(seen) < _MOST_TEXTS and compared["text"] not in seen:
            seen.add(compared["text"])
            yield from list_false_statements(snapshot, **compared)


def read_outcome(events: Sequence[Event], snapshot: Snapshot) -> Outcome:
    """The outcome of a turn, with the names of intents and fields in its release."""
    names = {row.intent_code: row.display_name or row.intent_code for row in snapshot.enabled_rows(rows.Intent)}
    schemas = [row.json_schema or {} for row in snapshot.enabled_rows(rows.OutputSchema)]
    fields = [item for schema in schemas for item in schema.get("properties", {}).items()]
    return Outcome(events, names, {path: field["title"] for path, field in fields if "title" in field})


def list_wrong_decisions(events: Sequence[Event], snapshot: Snapshot) -> Iterator[str]:
    """Decisions whose rows contradict the winners that their event names, or whose counts contradict their rows."""
    pairs = zip(*(build_decisions(events, snapshot, limit) for limit in (1000, 2)), strict=True)
    for decision, brief in ((whole.as_json(), short.as_json()) for whole, short in pairs):
        chosen = sorted(str(row["id"]) for row in decision["candidates"] if row["matched"])
        if chosen != sorted(map(str, decision["winners"])):
            yield f"decision {decision['seq']}: {chosen} are chosen, and the winners are {decision['winners']}"
        if decision["counts"] != brief["counts"] and decision["candidates"]:
            yield f"decision {decision['seq']}: {decision['counts']} or {brief['counts']}"
        tested = sum(not row["derived"] for row in decision["candidates"])
        if tested != sum(decision["counts"].values()):
            yield f"decision {decision['seq']}: {tested} rows were tested, not {decision['counts']}"


def list_unfounded_sentences(told: Sequence[Sentence], events: Sequence[Event], snapshot: Snapshot) -> Iterator[str]:
    """What an account says that does not stand in the turn's events, or in the rows that they name."""
    by_seq = {event.row.seq: event for event in events}
    for sentence in told:
        words = "".join(part for part in sentence.parts if isinstance(part, str))
        if found := _NAMED.search(words):
            yield f"{sentence.text}: {found[0]} is no fact of an event"
        if not any(by_seq[seq].name == sentence.kind.partition(":")[0] for seq in sentence.seqs if seq in by_seq):
            yield f"{sentence.text}: cites no event of {sentence.kind}"
            continue
        for fact in sentence.facts:
            if fact.seq not in sentence.seqs or fact.seq not in by_seq:
                yield f"{sentence.text}: rests on event {fact.seq}, which it does not name"
            elif not _stands(fact, by_seq[fact.seq], snapshot):
                yield f"{sentence.text}: {fact.value!r} does not stand at {fact.path} of event {fact.seq}"
            elif not _is_shown(fact, by_seq[fact.seq], snapshot):
                yield f"{sentence.text}: “{fact.text}” is not {fact.value!r}"
        cited = [by_seq[seq] for seq in sentence.seqs if seq in by_seq]
        yield from _list_wrong_outcomes(sentence, cited, {event.name for event in events})
        yield from _list_wrong_winners(sentence, events, snapshot)


def _stands(fact: Fact, event: Event, snapshot: Snapshot) -> bool:
    found: Any = event.payload
    for key in fact.path:
        found = found[key]
    if fact.row is not None and str(fact.row.pk) != str(fact.value) and not fact.column:
        return False
    if not fact.column:
        return bool(found == fact.value) or (isinstance(found, (Mapping, list)) and fact.value in found)
    assert fact.row is not None
    row = snapshot.row(rows.ROW_TYPE_OF[fact.row.table], fact.row.pk)
    named = found if isinstance(found, (Mapping, list)) else [found]
    return str(fact.row.pk) in map(str, named) and getattr(row, fact.column) == fact.value


def _is_shown(fact: Fact, event: Event, snapshot: Snapshot) -> bool:
    """True when the words of a fact are its value in one of the formats of sentences."""
    shown = fact.text.casefold()
    return any(text.casefold() == shown for text in _list_texts(fact, event, snapshot))


def _list_texts(fact: Fact, event: Event, snapshot: Snapshot) -> Iterator[str]:
    value = fact.value
    if fact.row and not fact.column:
        yield row_name(fact.row.table, value)
        return
    for write in FORMATS.values():
        with suppress(Exception):
            yield write(value)
    yield from (find_phrase(name, value) for name in PHRASES)
    yield from _LOSSES.get(str(value), ())
    if fact.column == "pattern" or fact.path[-1:] == ("value",):
        said = fact.text.strip("“”")
        whole = (
            str(value)
            if fact.path[-1:] == ("value",)
            else f"{event.state.get('userText')} {event.state.get('standaloneQuery')}"
        )
        if said and said.removesuffix("…") in " ".join(whole.split()):
            yield fact.text
    if isinstance(value, str):
        yield state_label(value)
        yield quote_intent(value)
        yield fact_name(value)
        yield describe_compared_pattern(value)
    operand: Any = event.payload
    for key in fact.path[:-1]:
        operand = operand[key]
    if isinstance(operand, Mapping) and "op" in operand:
        name, op, literal = str(operand["path"]), str(operand["op"]), operand.get("literal")
        write = comparison_sentence if operand.get("result") else negated_sentence
        yield write(name, op, literal, other=operand.get("literalPath"))
        yield claim_words(f"${name[1:]}" if name.startswith("@") else name, op, literal) or ""
    for row in snapshot.enabled_rows(rows.OutputSchema):
        specs = {field.path: field.spec for field in get_form(snapshot, row).leaves}
        yield from (write_fields(form, value, specs) for form in FIELD_FORMATS)
        yield f"no {write_fields('field', value, specs)}"
    yield from (write_fields(form, value, {}) for form in FIELD_FORMATS)


def _list_wrong_outcomes(sentence: Sentence, events: Sequence[Event], stages: Collection[str]) -> Iterator[str]:
    """Outcomes in words that the event of the sentence does not have."""
    words = " ".join(part for part in sentence.parts if isinstance(part, str)).replace(_CAUSE, "")
    own = [event for event in events if event.name == sentence.kind.partition(":")[0]]
    for text, holds in _OUTCOMES.get(sentence.kind, ()):
        if text in words:
            if not any(holds(event.payload) for event in own):
                yield f"{sentence.text}: “{text.strip()}” is not the outcome of its event"
            return
    if sentence.kind in _OUTCOMES:
        yield f"{sentence.text}: states no outcome of {sentence.kind}"
    stage = STAGES.get(sentence.kind)
    if (
        stage
        and stage.sentences
        # Without the values of its template, a sentence says what the stage means.
        and words != stage.help
        and not any(
            (template.fits(event.payload, stages) and _is_made_of(words, template.template))
            or (
                not template.when
                and sentence.kind in list(RuleAction)
                and _is_made_of(_REASON.sub("", words), f"{template.template} applied its action")
            )
            for template in stage.sentences
            for event in own
        )
    ):
        yield f"{sentence.text}: is no sentence of {sentence.kind} for its event"


def _list_wrong_winners(sentence: Sentence, events: Sequence[Event], snapshot: Snapshot) -> Iterator[str]:
    """Rows that the sentence calls a reason, or losers, against the decision before its event."""
    kind, _ = _WINNERS.get(sentence.kind, ("", ""))
    own = max((event.row.seq for event in events if event.row.seq in sentence.seqs), default=0)
    decision = next(
        (
            event
            for event in reversed(events)
            if event.name == "DECISION" and event.payload.get("kind") == kind and event.row.seq <= own
        ),
        None,
    )
    if decision is None:
        return
    winner = str(decision.payload.get("winner"))
    matched = {str(item["id"]): bool(item["matched"]) for item in decision.payload["candidates"]}
    for row, is_loser in _list_named_rows(sentence):
        table = rows.Classifier if kind == "CLASSIFIER" else None
        if is_loser and table and (best := snapshot.row(table, decision.payload["winner"])):
            lower = snapshot.row(table, row).priority > best.priority
            if _loss_words(sentence, row) != _LOSSES["LOWER_PRIORITY"][0 if lower else 1]:
                yield f"{sentence.text}: row {row} lost for another reason"
        if is_loser and matched.get(str(row)) is not False:
            yield f"{sentence.text}: row {row} is no candidate that lost in event {decision.row.seq}"
        if not is_loser and str(row) != winner:
            yield f"{sentence.text}: row {row} is not the winner {winner} of event {decision.row.seq}"


def _loss_words(sentence: Sentence, row: Any) -> str:
    """The words of the reason that follow a row that lost."""
    facts = list(sentence.facts)
    index = next(index for index, fact in enumerate(facts) if fact.row and str(fact.row.pk) == str(row))
    return facts[index + 1].text if index + 1 < len(facts) else ""


def _list_named_rows(sentence: Sentence) -> Iterator[tuple[Any, bool]]:
    """The rows of a sentence, each with whether the sentence says that it lost."""
    lost = False
    for part in sentence.parts:
        if isinstance(part, str):
            lost = lost or part == _LOSERS_FOLLOW
        elif part.row and not part.column:
            yield part.row.pk, lost


def _is_made_of(words: str, template: str) -> bool:
    """True when the words between facts come from this template, in its order."""
    literal = re.sub(r"\{[^{}]*\}|[\[\]]", " ", template)
    rest = iter(literal.lower().split())
    return all(word.lower() in rest for word in words.split() if word.lower() not in _JOINTS)
