"""Typed beginnings of turns in which some rules may act one after the other: a conversation, a message, and params.

They are made of the values and texts that the conditions of these rules name. The engine tests the conditions as far
as they depend on the beginning alone; what really happens, only the played turn shows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

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
from convengine.engine.cached_property import cached_property
from convengine.engine.dialogue.settings import REGEX_AFFIRM, REGEX_EDIT, REGEX_GREETING, REGEX_NEGATE
from convengine.engine.forms.form import get_form
from convengine.engine.forms.session_form import find_schema, set_form_facts
from convengine.engine.rules.actions.contract import COMPUTED
from convengine.engine.rules.conditions.rule import evaluate_rule, get_target
from convengine.engine.rules.text_bank import REGEX, RULE_EXACT
from convengine.engine.text.compare import code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import DialogueAct, Lifecycle, MatchTarget, RulePhase
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.params import is_engine_owned
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Clarification, Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

#: Limits: combinations of values to test, phrases of an intent, and fields to leave out one by one.
MAX_TESTED, MAX_PHRASES, MAX_LACKING = 1000, 4, 4
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
#: Facts that are chosen besides context and params, with the field of the session; and those that a beginning has.
_SESSION_FIELDS: Mapping[str, str] = {
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
    *,
    is_late: Callable[[], bool] = lambda: False,
) -> Iterator[Witness]:
    """Beginnings in these scopes in which the conditions of all wanted rules hold, one after the other.

    There are no more once `is_late`: a large form takes a millisecond for each that is tested.
    """
    for intent, state in scopes:
        requests: list[Values] = [{}]
        if phase == RulePhase.POST_TOOL_EXECUTION:
            # The caller has to request a tool: once so that it succeeds, and once so that it fails.
            tools = islice(relations.find_rows_sharing_scope(snapshot, rows.Tool, intent, state), 1)
            succeeding = [{"tool_code": tool.tool_code} for tool in tools]
            requests = [{("inputParams", "tool_request"): request} for request in (*succeeding, "none")]
        for phrase in _list_phrases(snapshot, phase, intent):
            search = _Search(snapshot, intent, state, wanted, phrase, unwanted_texts)
            for given in requests:
                yield from search.find(given, is_late)


def _list_phrases(snapshot: Snapshot, phase: RulePhase, intent: str) -> list[list[TextPredicate]]:
    """What the message has to match besides: for rules after a phrase decided, one of the intent's."""
    if phase != RulePhase.POST_CLASSIFIER_INTENT:
        return [[]]
    phrases = relations.find_rows_of_intent(snapshot, rows.Classifier, intent)
    tested = [phrase for phrase in phrases if phrase.is_phrase or phrase.is_pattern]
    return [[get_phrase_predicate(phrase)] for phrase in tested[:MAX_PHRASES]] or [[]]


def get_phrase_predicate(row: rows.Classifier) -> TextPredicate:
    return TextPredicate(RULE_EXACT if row.is_phrase else code(row.rule_type), row.pattern or "")


class _Search:
    """Beginnings in one scope. `texts`: what the message has to match besides the wanted rules."""

    def __init__(
        self,
        snapshot: Snapshot,
        intent: str,
        state: str,
        wanted: Sequence[Wanted],
        texts: Sequence[TextPredicate],
        unwanted_texts: Sequence[TextPredicate],
    ) -> None:
        self._snapshot, self._intent, self._state, self._wanted = snapshot, intent, state, wanted
        self._mentions = [mention for each in wanted for mention in list_mentions(each.rule)]
        self._texts, self._unwanted_texts = [*texts], [*unwanted_texts]
        for each in wanted:
            predicate = get_text_predicate(each.rule)
            if predicate is not None and get_target(each.rule) != MatchTarget.DIALOGUE_ACT:
                (self._texts if each.holds else self._unwanted_texts).append(predicate)
        self._path_texts = [text for mention in self._mentions if (text := _read_message_test(mention)) is not None]
        schema = find_schema(snapshot, intent, state)
        form = get_form(snapshot, schema) if schema is not None else None
        usable = form is not None and form.problem is None
        self._schema, self._form = (schema, form) if usable else (None, None)
        self._asks_form = any(mention.path[0] in _FORM_FACTS for mention in self._mentions)
        self._asks_engine = any(map(_is_of_engine, self._mentions))

    def find(self, given: Values, is_late: Callable[[], bool]) -> Iterator[Witness]:
        """Beginnings with the given values in which the rules hold as wanted, likely ones first.

        At most `MAX_TESTED` combinations of values are tried, and none when it is late.
        """
        if self._find_message([]) is None:
            return
        possible = {
            path: [value for value in values if _may_be(path, value)]
            for path, values in list_candidates(self._mentions, self._form).items()
            if path[:2] == DIALOGUE_ACT
            or path[0] in ("context", "previousTurn", "pendingClarificationQuestion", *_SESSION_FIELDS)
            or (path[0] == "inputParams" and not any(map(is_engine_owned, path[1:2])))
        }
        for chosen in islice(order_combinations([*possible.values()]), MAX_TESTED):
            values = {**given, **dict(zip(possible, chosen, strict=True))}
            messages = self._list_messages(values.get(DIALOGUE_ACT))
            for shaped in self._list_shapes(values):
                if is_late():
                    return
                session = self._make_session(shaped)
                for message in messages:
                    if _hold_in_turn(session.evolve(user_text=message.text), self._wanted):
                        yield self._make_beginning(shaped, message)

    def _find_message(self, more: Sequence[TextPredicate]) -> Text | None:
        wanted, unwanted = (*self._texts, *more), tuple(self._unwanted_texts)
        return _find_text(wanted, unwanted) if wanted or unwanted else Text(_PLAIN)

    def _list_messages(self, act: Json) -> list[Text]:
        """Messages with the words of the dialogue act, and with what paths ask of the message."""
        by_act = self._list_act_predicates(act)
        variants = [[*by_act, *self._path_texts], by_act, self._path_texts, []]
        if self._asks_engine:
            variants += [self._list_act_predicates(each) for each in (DialogueAct.AFFIRM, DialogueAct.NEGATE)]
        texts = [self._find_message(variant) for variant in variants]
        if self._form is not None and Text(_PLAIN) in texts:
            # Where a form collects, a value of it is as plain: a question may lead elsewhere.
            required = [own.path for own in self._form.fields if own.required][:MAX_LACKING]
            values = [self._samples[path] for path in required]
            texts += [Text(str(value)) for value in values if isinstance(value, str | int | float)]
        return list(dict.fromkeys(text for text in texts if text is not None))

    @cached_property
    def _samples(self) -> Mapping[str, Json]:
        """A value that each field of the form accepts, or NOTHING."""
        return {own.path: sample_field(self._form, own.path) for own in self._form.fields} if self._form else {}

    def _list_act_predicates(self, act: Json) -> list[TextPredicate]:
        if act == DialogueAct.QUESTION:
            return [TextPredicate(REGEX, r"\w\?\s*\z")]
        setting = _BY_ACT.get(act) if isinstance(act, str) else None
        return [TextPredicate(FITS, live_settings.read(self._snapshot, setting).value)] if setting else []

    def _list_shapes(self, values: Values) -> Iterator[Values]:
        """The values; if a rule asks for the form, or for what follows from it, also completed, and with one less."""
        yield values
        if self._form is None or not (self._asks_form or self._asks_engine):
            return
        taken = {path[1] for path in values if path[0] == "context"}
        fields = [own for own in self._form.fields if own.path not in taken]
        filled: Values = {("context", own.path): self._samples[own.path] for own in fields}
        yield {**filled, **values}
        for left_out in islice((("context", own.path) for own in fields if own.required), MAX_LACKING):
            yield {**{path: value for path, value in filled.items() if path != left_out}, **values}

    def _make_session(self, values: Values) -> Session:
        """A session with these values, on which conditions are tested before a turn is played."""
        document = build_document(values)
        facts = {name: document[key] for key, name in _SESSION_FIELDS.items() if key in document}
        context, question = document.get("context") or {}, document.get("pendingClarificationQuestion")
        session = Session(
            "",
            **{"turn_no": 2, **facts},
            now=get_noon(),
            intent=self._intent,
            state=self._state,
            context=context,
            clarification=Clarification(str(question), UNKNOWN) if question else None,
            resolved_schema=self._schema,
        ).with_params(
            {
                "dialogue_act": DialogueAct.ANSWER.value,
                **(document.get("inputParams") or {}),
                "previousTurn": document.get("previousTurn"),
            }
        )
        if self._schema is None or self._form is None or not self._asks_form:
            return session
        return set_form_facts(session, self._schema, self._form)

    def _make_beginning(self, values: Values, message: Text) -> Witness:
        """The witness of a turn that begins with these values and this message."""
        document = build_document(values)
        context = document.get("context") or {}
        if question := document.get("pendingClarificationQuestion"):
            context = {**context, "pending_clarification": {"question": question, "reason": UNKNOWN}}
        params = {key: each for key, each in (document.get("inputParams") or {}).items() if not is_engine_owned(key)}
        facts = {name: document[name] for name in _OF_BEGINNING if name in document}
        return Witness(self._intent, self._state, message.text, None, None, context, params, facts, message.joined)


def _read_message_test(mention: Mention) -> TextPredicate | None:
    """What a path asks of the message."""
    if mention.path not in _MESSAGE_PATHS:
        return None
    literal = next((value for value in mention.values if isinstance(value, str)), None)
    return mention.text or (TextPredicate(FITS_CASE, rf"\Q{literal}\E") if literal is not None else None)


def _is_of_engine(mention: Mention) -> bool:
    """True for a param that the engine sets in the turn, except the dialogue act, which the message decides."""
    path = mention.path
    return path[0] == "inputParams" and path[1:2] != DIALOGUE_ACT[1:] and any(map(is_engine_owned, path[1:2]))


def _may_be(path: FactPath, value: Json) -> bool:
    match path:
        case _ if value is NOTHING:
            return True
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
    """True when each rule holds as wanted when those before it have acted, or only the turn decides that."""
    for each in wanted:
        depends = any(map(_is_of_engine, list_mentions(each.rule)))
        if not depends and evaluate_rule(each.rule, session).matched is not each.holds:
            return False
        effects = {effect.path: effect.value for effect in list_effects(each.rule)} if each.holds else {}
        if COMPUTED in effects.values():
            return True
        session = _write(session, effects) if effects else session
    return True


def _write(session: Session, effects: Values) -> Session:
    document: dict[str, Json] = {"context": _copy(session.context), "inputParams": _copy(session.input_params)}
    moved = {path[0]: value for path, value in effects.items() if path[0] in ("intent", "state")}
    for path, value in effects.items():
        if path[0] in document:
            _set_value(document, path, value)
    return session.evolve(context=document["context"], **moved).with_only_params(document["inputParams"])


def build_document(values: Values) -> dict[str, Json]:
    """The facts with each value at its path."""
    document: dict[str, Json] = {}
    for path in sorted(values, key=len):
        if values[path] is not NOTHING:
            _set_value(document, path, _copy(values[path]))
    return document


def _set_value(document: dict[str, Json], path: FactPath, value: Json) -> None:
    """Set a value in a document at a path, and make the objects on the way. `NOTHING` removes the key."""
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
