"""Typed beginnings of turns in which some rules may act one after the other: a conversation, a message, and params.

They are made from the conditions of these rules. The engine tests the conditions before a turn is played, as far as
they depend on the beginning alone; what really happens, only the played turn shows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from config_admin.health.diagnosis import Witness
from config_admin.health.rules.effects import list_effects
from config_admin.health.rules.mentions import (
    DIALOGUE_ACT,
    FactPath,
    Mention,
    get_noon,
    get_text_predicate,
    list_mentions,
)
from config_admin.health.rules.values import NOTHING, list_candidates, order_combinations, sample_field
from config_admin.health.texts.predicate import FITS, FITS_CASE, Text, TextPredicate, find_text
from config_admin.validation import relations
from convengine.engine.dialogue.settings import REGEX_AFFIRM, REGEX_EDIT, REGEX_GREETING, REGEX_NEGATE
from convengine.engine.forms.form import Form, get_form
from convengine.engine.forms.session_form import find_schema, set_form_facts
from convengine.engine.rules.actions.contract import COMPUTED
from convengine.engine.rules.conditions import evaluate_rule, get_target
from convengine.engine.rules.text_bank import REGEX, RULE_EXACT
from convengine.engine.text.compare import code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import DialogueAct, Lifecycle, MatchTarget, RulePhase, RuleType
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.params import is_engine_owned
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Clarification, Session
from convengine.engine.turn.snapshot import Snapshot

Json = Any
#: Limits: values of one rule to test and to keep, combinations of the rules' values, and phrases of an intent.
MAX_TESTED, MAX_KEPT, MAX_COMBINED, MAX_PHRASES = 400, 12, 150, 4
_BY_ACT: Mapping[str, Setting[str]] = {
    DialogueAct.AFFIRM: REGEX_AFFIRM,
    DialogueAct.NEGATE: REGEX_NEGATE,
    DialogueAct.EDIT: REGEX_EDIT,
    DialogueAct.GREETING: REGEX_GREETING,
}
#: A message that means nothing, if any will do. No form takes a question for a value.
_PLAIN = "what do you mean?"
_MESSAGE_PATHS = (("userText",), ("resolvedUserInput",))
_FORM_FACTS = ("schemaComplete", "hasAnySchemaValue", "missingRequiredFields", "missingFieldOptions")
#: Facts of the session that follow from nothing here, with its field.
_SESSION_FIELDS: Mapping[str, str] = {
    "intent": "intent",
    "state": "state",
    "turnNo": "turn_no",
    "lifecycle": "lifecycle",
    "contextSummary": "context_summary",
    "standaloneQuery": "standalone_query",
    "containerData": "container_data",
    "hasContainerData": "has_container_data",
    "lastLlmStage": "last_llm_stage",
    "lastLlmOutput": "last_llm_output",
    "intentLocked": "intent_locked",
}
#: Of these, what a typed beginning can have.
_OF_BEGINNING = ("turnNo", "lifecycle", "contextSummary", "previousTurn")
_LIFECYCLES, _ACTS = [each.value for each in Lifecycle], [each.value for each in DialogueAct]
Values = Mapping[FactPath, Json]


@dataclass(frozen=True)
class Wanted:
    """A rule that should act, or whose condition should not hold."""

    rule: rows.Rule
    holds: bool = True


def find_beginnings(
    snapshot: Snapshot,
    phase: RulePhase,
    scopes: Sequence[tuple[str, str]],
    wanted: Sequence[Wanted],
    unwanted_texts: Sequence[TextPredicate] = (),
) -> Iterator[Witness]:
    """Beginnings in these scopes in which the conditions of all wanted rules hold, one after the other."""
    for intent, state in scopes:
        for phrase in _list_phrases(snapshot, phase, intent):
            search = _Search(snapshot, intent, state, wanted, [*phrase], unwanted_texts)
            for given in _list_requests(snapshot, phase, intent, state):
                yield from search.find(given)


def _list_phrases(snapshot: Snapshot, phase: RulePhase, intent: str) -> list[tuple[TextPredicate, ...]]:
    """What the message has to match besides: for rules after a phrase decided, one of the intent's."""
    if phase != RulePhase.POST_CLASSIFIER_INTENT:
        return [()]
    phrases = relations.find_rows_of_intent(snapshot, rows.Classifier, intent)
    tested = [phrase for phrase in phrases if phrase.is_phrase or phrase.is_pattern]
    return [(get_phrase_predicate(phrase),) for phrase in tested[:MAX_PHRASES]] or [()]


def _list_requests(snapshot: Snapshot, phase: RulePhase, intent: str, state: str) -> list[Values]:
    """What the caller has to send besides: for rules after a tool call, a request that succeeds, and one that fails."""
    if phase != RulePhase.POST_TOOL_EXECUTION:
        return [{}]
    tools = relations.find_rows_sharing_scope(snapshot, rows.Tool, intent, state)
    requests = [{"tool_code": tool.tool_code} for tool in islice(tools, 1)]
    return [{("inputParams", "tool_request"): request} for request in (*requests, "none")]


def get_phrase_predicate(row: rows.Classifier) -> TextPredicate:
    """A text that leads to the row."""
    return TextPredicate(RULE_EXACT if row.is_phrase else code(row.rule_type), row.pattern or "")


class _Search:
    """Beginnings in one scope."""

    def __init__(
        self,
        snapshot: Snapshot,
        intent: str,
        state: str,
        wanted: Sequence[Wanted],
        texts: list[TextPredicate],
        unwanted_texts: Sequence[TextPredicate],
    ) -> None:
        self._snapshot, self._intent, self._state, self._wanted = snapshot, intent, state, wanted
        self._texts, self._unwanted_texts = texts, [*unwanted_texts]
        self._mentions = [mention for each in wanted for mention in list_mentions(each.rule)]
        self._form = self._find_form()
        for each in wanted:
            predicate = get_text_predicate(each.rule)
            if predicate is not None and get_target(each.rule) != MatchTarget.DIALOGUE_ACT:
                (self._texts if each.holds else self._unwanted_texts).append(predicate)
        self._asks_form = any(mention.path[0] in _FORM_FACTS for mention in self._mentions)
        #: True when a rule reads what the engine decides in the turn.
        self._depends_on_turn = any(
            _depends_on_turn(mention) and mention.path[0] == "inputParams" for mention in self._mentions
        )
        self._path_texts = [text for mention in self._mentions if (text := _read_message_test(mention)) is not None]

    def _find_form(self) -> tuple[rows.OutputSchema, Form] | None:
        row = find_schema(self._snapshot, self._intent, self._state)
        form = get_form(self._snapshot, row) if row is not None else None
        return (row, form) if row is not None and form is not None and form.problem is None else None

    def find(self, given: Values) -> Iterator[Witness]:
        """All of them with the given values, likely ones first."""
        text = self._find_message([])
        if text is None:
            return
        for values in self._combine(text):
            for message in self._list_messages(values):
                for shaped in self._list_shapes({**given, **values}):
                    session = self._make_session(shaped, message.text)
                    if _hold_in_turn(session, self._wanted):
                        yield self._make_beginning(shaped, message)

    # --- messages -----------------------------------------------------------------------------------------------

    def _find_message(self, more: Sequence[TextPredicate]) -> Text | None:
        wanted, unwanted = (*self._texts, *more), tuple(self._unwanted_texts)
        if not wanted and not unwanted:
            return Text(_PLAIN)
        return _find_text(wanted, unwanted)

    def _list_messages(self, values: Values) -> Iterator[Text]:
        """Messages with the words of the dialogue act, and with what paths read of the message."""
        act = values.get(DIALOGUE_ACT)
        by_act = [self._get_act_predicate(act)] if isinstance(act, str) else []
        variants = [[*by_act, *self._path_texts], by_act, self._path_texts, []]
        if self._depends_on_turn:
            variants += [[self._get_act_predicate(act)] for act in (DialogueAct.AFFIRM, DialogueAct.NEGATE)]
        found = (self._find_message([text for text in variant if text is not None]) for variant in variants)
        yield from dict.fromkeys(text for text in found if text is not None)

    def _get_act_predicate(self, act: str) -> TextPredicate | None:
        if act == DialogueAct.QUESTION:
            return TextPredicate(REGEX, r"\w\?\s*\z")
        setting = _BY_ACT.get(act)
        return TextPredicate(FITS, live_settings.read(self._snapshot, setting).value) if setting else None

    # --- values -------------------------------------------------------------------------------------------------

    def _combine(self, text: Text) -> Iterator[Values]:
        """Values of all paths: those of each rule that make it hold, put together."""
        candidates = list_candidates(self._mentions, self._form[1] if self._form else None)
        candidates = {
            path: [value for value in values if value is NOTHING or _is_possible(path, value)]
            for path, values in candidates.items()
            if _is_free(path)
        }
        holding: list[list[Values]] = []
        written: dict[FactPath, Json] = {}
        for each in self._wanted:
            read = [path for path in _list_read(each.rule, candidates) if not _is_written(path, written)]
            holding.append(self._list_holding(each, {path: candidates[path] for path in read}, written, text))
            if not holding[-1]:
                return
            written |= {effect.path: effect.value for effect in list_effects(each.rule)} if each.holds else {}
        for chosen in islice(order_combinations(holding), MAX_COMBINED):
            merged = _merge(chosen)
            if merged is not None:
                yield merged

    def _list_holding(
        self, wanted: Wanted, candidates: Mapping[FactPath, list[Json]], written: Values, text: Text
    ) -> list[Values]:
        """Values of the paths that a rule reads, for which its condition holds, as far as they alone decide."""
        mentions = list_mentions(wanted.rule)
        depends = any(_depends_on_turn(mention) or mention.path in _MESSAGE_PATHS for mention in mentions)
        test = None if depends or COMPUTED in written.values() else wanted.rule
        held: list[Values] = []
        for chosen in islice(order_combinations([*candidates.values()]), MAX_TESTED if test else MAX_KEPT):
            values = dict(zip(candidates, chosen, strict=True))
            if test is not None:
                session = self._make_session({**values, **written}, text.text)
                if evaluate_rule(test, session).matched is not wanted.holds:
                    continue
            held.append(values)
            if len(held) >= MAX_KEPT:
                break
        return held

    def _list_shapes(self, values: Values) -> Iterator[Values]:
        """The values as they are; if a rule reads the form's facts or what follows, also with a complete form, and one field less."""
        yield values
        if self._form is None or not (self._asks_form or self._depends_on_turn):
            return
        form = self._form[1]
        taken = {path[1] for path in values if path[0] == "context"}
        filled = {("context", own.path): sample_field(form, own.path) for own in form.fields if own.path not in taken}
        yield {**filled, **values}
        for left_out in [path for path in filled if (own := form.field(path[1])) and own.required][:MAX_PHRASES]:
            yield {**{path: value for path, value in filled.items() if path != left_out}, **values}

    # --- turns --------------------------------------------------------------------------------------------------

    def _make_session(self, values: Values, text: str | None) -> Session:
        """A session with these values, in which conditions are tested before a turn is played."""
        document = build_document(values)
        facts = {name: document[key] for key, name in _SESSION_FIELDS.items() if key in document}
        context = document.get("context") or {}
        params = {"dialogue_act": DialogueAct.ANSWER.value, **(document.get("inputParams") or {})}
        if "previousTurn" in document:
            params["previousTurn"] = document["previousTurn"]
        if question := document.get("pendingClarificationQuestion"):
            facts["clarification"] = Clarification(str(question), UNKNOWN)
        defaults: dict[str, Json] = {"intent": self._intent, "state": self._state, "now": get_noon(), "turn_no": 2}
        if self._form is not None:
            defaults["resolved_schema"] = self._form[0]
        session = Session("", user_text=text, context=context, input_params=params, **{**defaults, **facts})
        if self._form is not None and self._asks_form:
            row, form = self._form
            return set_form_facts(session, row, form.status(context))
        return session

    def _make_beginning(self, values: Values, message: Text) -> Witness:
        document = build_document(values)
        context, params = document.get("context") or {}, document.get("inputParams") or {}
        if question := document.get("pendingClarificationQuestion"):
            context = {**context, "pending_clarification": {"question": question, "reason": UNKNOWN}}
        return Witness(
            intent=self._intent,
            state=self._state,
            text=message.text,
            context=context,
            input_params={key: value for key, value in params.items() if not is_engine_owned(key)},
            facts={name: document[name] for name in _OF_BEGINNING if name in document},
            joined=message.joined,
        )


def _read_message_test(mention: Mention) -> TextPredicate | None:
    """What a path asks of the message."""
    if mention.path not in _MESSAGE_PATHS:
        return None
    literal = next((value for value in mention.values if isinstance(value, str)), None)
    return mention.text or (TextPredicate(FITS_CASE, rf"\Q{literal}\E") if literal is not None else None)


def _is_free(path: FactPath) -> bool:
    """True for a value that is chosen: of the context, of an input param, of the dialogue act or of another fact."""
    if path[0] == "inputParams":
        return path == DIALOGUE_ACT or not is_engine_owned(path[1])
    return path[0] in ("context", "previousTurn", "pendingClarificationQuestion") or (
        path[0] in _SESSION_FIELDS and path[0] not in ("intent", "state")
    )


def _list_read(rule: rows.Rule, candidates: Mapping[FactPath, object]) -> list[FactPath]:
    """The paths with candidates that a rule reads, as a whole or in part."""
    read = [mention.path for mention in list_mentions(rule)]
    likes = [mention.like for mention in list_mentions(rule) if mention.like is not None]
    return [path for path in candidates if any(_overlap(path, other) for other in (*read, *likes))]


def _overlap(path: FactPath, other: FactPath) -> bool:
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]


def _is_written(path: FactPath, written: Values) -> bool:
    return any(path[: len(other)] == other for other in written)


def _depends_on_turn(mention: Mention) -> bool:
    """True for what only the turn decides: the form's facts, and params that the engine sets."""
    match mention.path:
        case (name, *_) if name in _FORM_FACTS:
            return True
        case ("inputParams", name, *_):
            return name != "dialogue_act" and is_engine_owned(name)
        case _:
            return False


def _merge(chosen: Sequence[Values]) -> Values | None:
    """The values of all rules together; null when two differ at one path."""
    merged: dict[FactPath, Json] = {}
    for values in chosen:
        for path, value in values.items():
            if path in merged and (merged[path] is not value and merged[path] != value):
                return None
            merged[path] = value
    return merged


def _is_possible(path: FactPath, value: Json) -> bool:
    """Whether a conversation can have the value of this fact."""
    match path:
        case ("turnNo",):
            return isinstance(value, int) and not isinstance(value, bool) and value >= 1
        case ("lifecycle",):
            return value in _LIFECYCLES
        case ("inputParams", "dialogue_act"):
            return value in _ACTS
        case ("contextSummary",):
            return isinstance(value, str)
        case ("previousTurn",):
            return isinstance(value, dict)
        case _:
            return True


def _hold_in_turn(session: Session, wanted: Sequence[Wanted]) -> bool:
    """Whether each rule holds when those before it have acted; one that depends on the turn may hold."""
    for each in wanted:
        unknown = any(
            _depends_on_turn(mention) and mention.path[0] == "inputParams" for mention in list_mentions(each.rule)
        )
        if not unknown and evaluate_rule(each.rule, session).matched is not each.holds:
            return False
        if each.holds:
            effects = list_effects(each.rule)
            if any(effect.value is COMPUTED for effect in effects):
                return True
            session = _write(session, {effect.path: effect.value for effect in effects})
    return True


def _write(session: Session, effects: Values) -> Session:
    """The session after a rule has acted."""
    document: dict[str, Json] = {"context": _copy(session.context), "inputParams": _copy(session.input_params)}
    moved = {}
    for path, value in effects.items():
        if path[0] in ("intent", "state"):
            moved[path[0]] = value
        elif path[0] in document:
            _set_value(document, path, value)
    return session.evolve(context=document["context"], input_params=document["inputParams"], **moved)


def build_document(values: Values) -> dict[str, Json]:
    """The facts with each value at its path."""
    document: dict[str, Json] = {}
    for path in sorted(values, key=len):
        if values[path] is not NOTHING:
            _set_value(document, path, _copy(values[path]))
    return document


def _set_value(document: dict[str, Json], path: FactPath, value: Json) -> None:
    for key in path[:-1]:
        inner = document.get(key)
        if not isinstance(inner, dict):
            inner = document[key] = {}
        document = inner
    if value is NOTHING:
        document.pop(path[-1], None)
    else:
        document[path[-1]] = value


def _copy(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value


@lru_cache(maxsize=16384)
def _find_text(wanted: tuple[TextPredicate, ...], unwanted: tuple[TextPredicate, ...]) -> Text | None:
    return find_text(wanted, unwanted)
