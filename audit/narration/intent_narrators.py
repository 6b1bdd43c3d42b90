"""How the intent was found, kept, or asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from audit.narration.narrate import ExtraParts, NarratedTurn, Narrator, build_sentence
from audit.narration.wording import (
    FORMATS,
    Fact,
    Parts,
    RowRef,
    Sentence,
    find_matched_words,
    join_parts,
    quote,
    row_name,
)
from audit.record.events import Event
from convengine.engine.clarification.collision import has_name
from convengine.engine.forms.stages import FORM_LEFT
from convengine.engine.rules.verdict import INTENT_NOT_IN_CHANNEL
from convengine.engine.steps.conversation.stages import CONVERSATION_LOADED
from convengine.engine.steps.intents.stages import (
    INTENT_CLASSIFICATION_MATCHED,
    INTENT_CLASSIFIER_COLLISION,
    INTENT_RESOLVE_NO_CHANGE,
    INTENT_RESOLVE_SKIPPED_POLICY,
    INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION,
    INTENT_RESOLVE_SKIPPED_STICKY_INTENT,
    INTENT_RESOLVE_START,
)
from convengine.engine.steps.responses.stages import DIGRESSION_ANSWERED, NOT_UNDERSTOOD
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType, DecisionKind
from convengine.engine.turn.labels import state_label
from convengine.engine.turn.scope import ANY, INTENT_COLLISION, UNKNOWN
from convengine.engine.turn.stage import Tone
from convengine.engine.turn.stages import ASSISTANT_OUTPUT, DECISION, ENGINE_RETURN
from convengine.engine.understanding.phrases.book import ANSWER
from convengine.engine.understanding.phrases.explain import LEAST_NEAR
from convengine.engine.understanding.phrases.matching import LEAST_LIKENESS, OPTION, PART
from convengine.engine.understanding.phrases.wording import list_keys
from convengine.json_value import Json
from convengine.server.admin_site.record_columns import quote_intent

_TABLE = rows.Classifier.table
_ROWS = "matchedByRule"
#: Why a phrase that matched did not decide, in the event.
_LOST = "LOWER_PRIORITY"
#: Maximum phrases in a sentence; the event has all.
_MOST = 3
#: Stages that say that the intent stays.
KEPT = (
    INTENT_RESOLVE_NO_CHANGE,
    INTENT_RESOLVE_SKIPPED_POLICY,
    INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION,
    INTENT_RESOLVE_SKIPPED_STICKY_INTENT,
)
#: How a phrase of a type matches.
_FITS: Mapping[str, str] = {
    ClassifierType.EXACT: "the message is ",
    ClassifierType.CONTAINS: "the message contains ",
    ClassifierType.PHRASE: "the message is near to the phrase ",
}


#: How a phrase fits, if it is not near to the whole message.
_BY_BASIS: Mapping[Json, str] = {
    OPTION: "the message names an option of its form, and is nearest to the phrase ",
    PART: "a part of the message is near to the phrase ",
    ANSWER: "the message is near to the answer, or to the phrase ",
}


def narrate_match(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """The phrase that decided with its reason, and the phrases that matched and lost.

    If the turn did not take the intent, the sentence says that the message may mean it. There is no sentence if the
    intent is the one that stays anyway.
    """
    event = turn.events[index]
    # The next event that says that the intent stays.
    keeping = next((later for later in turn.events[index + 1 :] if later.name in KEPT), None)
    intent = event.payload.get("intent")
    if keeping and intent == find_previous_intent(turn, index):
        return
    is_taken = keeping is None or turn.after(index, DIGRESSION_ANSWERED, intent=intent) is not None
    lead = turn.fill(event, "Recognised the intent {intent}" if is_taken else "The message may also mean {intent}")
    if lead:
        decision = turn.before(index, DECISION, kind=DecisionKind.CLASSIFIER.value)
        winner = _find_winner(event, decision)
        cause = (", because ", *_describe_matching_phrase(turn, event, winner, decision)) if winner is not None else ()
        runner_up = turn.fill(
            event,
            "; the confidence is {score:percent}, and that of the next best, {runnerUp}, is {runnerUpScore:percent}",
        ) or turn.fill(event, "; the confidence is {score:percent}")
        losers = _describe_losers(turn, decision, winner) if decision else ()
        state = _describe_state_not_taken(turn, index, winner) if keeping is None else ()
        sentence = build_sentence(event, (*lead, *cause, *runner_up, ".", *state, *losers))
        yield replace(sentence, patterns=_list_patterns(turn, winner))


def _describe_state_not_taken(turn: NarratedTurn, index: int, winner: Json) -> Parts:
    """Why the state of the phrase was not taken, where the conversation was already in its intent."""
    event, row = turn.events[index], turn.row(rows.Classifier, winner)
    wanted, after = code(row.state_code) if row else ANY, event.payload.get("state")
    is_same = find_previous_intent(turn, index) == event.payload.get("intent")
    if row is None or not is_same or wanted in (ANY, UNKNOWN, after):
        return ()
    ref, named = RowRef(_TABLE, winner), turn.fill(event, "state {state}")
    state = Fact(state_label(row.state_code), row.state_code, event.row.seq, (_ROWS,), ref, "state_code")
    return (
        " Its state ",
        state,
        " was not taken, because the conversation was already in this intent, in ",
        *named,
        ".",
    )


def find_previous_intent(turn: NarratedTurn, index: int) -> Json:
    """The intent before the turn looked for one. Returns None if none is known."""
    start = turn.before(index, INTENT_RESOLVE_START)
    return start.payload.get("previousIntent") if start else None


def find_kept_intent(turn: NarratedTurn, index: int) -> ExtraParts | None:
    """The intent that stays. Returns None if the conversation had none, or ends the turn with another one.

    Nor is there one if a policy skipped the search in a turn that did not understand the message.
    """
    start, end = turn.before(index, INTENT_RESOLVE_START), turn.after(index, ENGINE_RETURN)
    intent = find_previous_intent(turn, index)
    if NOT_UNDERSTOOD in turn.stages and turn.events[index].name == INTENT_RESOLVE_SKIPPED_POLICY:
        return None
    if start is None or intent in (None, UNKNOWN) or (end and end.payload.get("intent") != intent):
        return None
    return {"previousIntent": turn.fill(start, "{previousIntent}")}


def find_likeliest(turn: NarratedTurn, index: int) -> ExtraParts:
    """The intent that came nearest, its confidence, and how much is needed; nothing if none came near.

    `missing` is the one that the message means, but the channel does not have.
    """
    decision = turn.before(index, DECISION, kind=DecisionKind.CLASSIFIER.value)
    stored = decision.payload.get("candidates") if decision else None
    candidates = stored if isinstance(stored, list) else []
    missing = next((at for at, each in enumerate(candidates) if _is_not_in_channel(each)), None)
    at = missing or 0
    compared = _read_compared(candidates[at]) if candidates else None
    if decision is None or compared is None:
        return {}
    score, key = compared.get("score"), candidates[at].get("id")
    row = turn.row(rows.Classifier, key)
    if row is None or not isinstance(score, float) or score < LEAST_NEAR:
        return {}
    seq, path = decision.row.seq, ("candidates", at)
    confidence, needed = (
        Fact(FORMATS["percent"](compared.get(name)), compared.get(name), seq, (*path, "operands", 0, name))
        for name in ("score", "minScore")
    )
    intent = Fact(
        quote_intent(row.intent_code), row.intent_code, seq, (*path, "id"), RowRef(_TABLE, key), "intent_code"
    )
    likeness = None if compared.get("basis") == ANSWER else compared.get("likeness")
    left_out = _find_reason_to_leave_out(turn, index, row.intent_code, likeness)
    name = "likeliest" if missing is None else "missing"
    return {name: (intent,), "confidence": (confidence,), "needed": (needed,), "leftOut": left_out}


def _find_reason_to_leave_out(turn: NarratedTurn, index: int, intent: str, likeness: Json) -> Parts:
    """Why the question which intent is meant leaves out the likeliest one; empty if it does not, or none is asked."""
    if turn.after(index, ASSISTANT_OUTPUT, responseType="COLLISION") is None:
        return ()
    if not has_name(turn.snapshot, intent):
        return ("it has no display name",)
    is_alike = not isinstance(likeness, float) or likeness >= LEAST_LIKENESS
    return () if is_alike else ("none of its phrases is similar enough to the message",)


def find_user_choice(turn: NarratedTurn, index: int) -> ExtraParts:
    """Why the intent changed although no phrase matched: the user answered a question of the bot. Else no cause."""
    if turn.before(index, CONVERSATION_LOADED, state=INTENT_COLLISION):
        return {"cause": ("answered the question which intent is meant",)}
    is_answer = any(event.name == FORM_LEFT and event.payload.get("answers") for event in turn.events[:index])
    return {"cause": ("had asked for it before the bot's question",) if is_answer else ()}


def _is_not_in_channel(candidate: Json) -> bool:
    """True for a phrase that fits well enough, and whose intent the channel does not have."""
    compared = _read_compared(candidate)
    if compared is None or candidate.get("reason") != INTENT_NOT_IN_CHANNEL:
        return False
    return float(compared["score"]) >= float(compared["minScore"])


def _read_compared(candidate: Json) -> Mapping[str, Json] | None:
    """The compared values of a phrase. Returns None if it was compared with nothing, or is damaged."""
    operands = candidate.get("operands") if isinstance(candidate, Mapping) else None
    compared = operands[0] if isinstance(operands, list) and operands else None
    return compared if isinstance(compared, Mapping) else None


def _list_patterns(turn: NarratedTurn, pk: Json) -> tuple[str, ...]:
    """The pattern of the phrase that decided, to be shown on demand."""
    row = turn.row(rows.Classifier, pk)
    is_regex = row is not None and ClassifierType.read(row.rule_type) == ClassifierType.REGEX
    return (f"{row_name(_TABLE, pk)}: /{row.pattern}/",) if is_regex else ()


def _read_tested_text(event: Event) -> str | None:
    """The text that phrases were tested on: the message, or its rewritten form."""
    return event.state.get("standaloneQuery") or event.state.get("userText")


def _find_winner(event: Event, decision: Event | None) -> Json:
    """The matched phrase that won by the decision; without a decision, the only one that matched. Else None."""
    matched = event.payload.get(_ROWS)
    if not isinstance(matched, Mapping):
        return None
    winner = decision.payload.get("winner") if decision else next(iter(matched), None) if len(matched) == 1 else None
    return winner if str(winner) in matched else None


def _describe_losers(turn: NarratedTurn, decision: Event, winner: Json) -> Parts:
    """The phrases that matched too and came later by priority: three with the reason, and whether there are more."""
    best = turn.row(rows.Classifier, winner)
    candidates = decision.payload.get("candidates")
    outranked = [
        (number, candidate)
        for number, candidate in enumerate(candidates if isinstance(candidates, list) else ())
        if isinstance(candidate, Mapping) and candidate.get("reason") == _LOST and best is not None
    ]
    seq = decision.row.seq
    parts: list[str | Fact] = []
    for number, candidate in outranked[:_MOST]:
        pk, path = candidate["id"], ("candidates", number)
        name, row = row_name(_TABLE, pk), turn.row(rows.Classifier, pk)
        reason = "lower priority" if row and row.priority > best.priority else "the same priority, but comes later"
        parts += [
            " ",
            Fact(name[:1].upper() + name[1:], pk, seq, (*path, "id"), RowRef(_TABLE, pk)),
            " matched too, with ",
            Fact(reason, candidate["reason"], seq, (*path, "reason")),
            ".",
        ]
    more = len(outranked) - _MOST
    return (*parts, *((" Other phrases matched too.",) if more > 0 else ()))


def narrate_collision(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """Matching phrases of several intents. None of them won."""
    event = turn.events[index]
    if intents := turn.fill(event, "Phrases of several intents match, so none decides: {matchedIntents:intents}"):
        decision = turn.before(index, DECISION, kind=DecisionKind.CLASSIFIER.value)
        yield build_sentence(event, (*intents, *_describe_matches(turn, event, decision), "."), Tone.WARNING)


def _describe_matches(turn: NarratedTurn, event: Event, decision: Event | None) -> Parts:
    """Why phrases match: three of them, and whether there are more; empty if the event names none."""
    matched = event.payload.get(_ROWS)
    if not isinstance(matched, Mapping) or not matched:
        return ()
    reasons: list[Parts] = [_describe_matching_phrase(turn, event, pk, decision) for pk in list(matched)[:_MOST]]
    return ("; ", *join_parts([*reasons, *([("other phrases match too",)] if len(matched) > _MOST else [])]))


def _describe_matching_phrase(turn: NarratedTurn, event: Event, pk: Json, decision: Event | None) -> Parts:
    """Why one phrase matches; its text comes from the release."""
    key = str(pk)
    seq, ref = event.row.seq, RowRef(_TABLE, int(key) if key.isdecimal() else key)
    name = Fact(row_name(_TABLE, key), key, seq, (_ROWS,), ref)
    row = turn.row(rows.Classifier, pk)
    kind = ClassifierType.read(row.rule_type) if row else None
    if row is None or kind is None or not row.pattern:
        return (name, " matches")
    text = quote(row.pattern)
    if kind == ClassifierType.REGEX:
        words = find_matched_words(row.pattern, _read_tested_text(event))
        if not words:
            return ("the message matches ", name)
        text = quote(words)
    pattern = Fact(text, row.pattern, seq, (_ROWS,), ref, "pattern")
    fits = _BY_BASIS.get(_read_basis(decision, pk)) or _FITS.get(kind, "the message contains ")
    if kind == ClassifierType.PHRASE and event.payload.get("score") == 1:
        is_same = list_keys(row.pattern) == list_keys(_read_tested_text(event) or "")
        fits = "the message is the phrase " if is_same else "the message has the telling words of the phrase "
    return (fits, pattern, " (", name, ")")


def _read_basis(decision: Event | None, pk: Json) -> Json:
    """What speaks for a phrase, if it is not the whole message. Returns None if that is all."""
    stored = decision.payload.get("candidates") if decision else None
    candidates = stored if isinstance(stored, list) else []
    compared = (_read_compared(each) for each in candidates if isinstance(each, Mapping) and str(each["id"]) == str(pk))
    return next((each.get("basis") for each in compared if each), None)


NARRATORS: Mapping[str, Narrator] = {
    INTENT_CLASSIFICATION_MATCHED: narrate_match,
    INTENT_CLASSIFIER_COLLISION: narrate_collision,
}
