"""CorrectionStep: handle a yes, a change or a retry within the form (pipeline-1 10)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from convengine.engine.forms.convert import VALUE_INVALID, ConvertedValue, clean_value, convert_value
from convengine.engine.forms.edit_phrases import (
    FIELD_AMBIGUOUS,
    FIELD_UNKNOWN,
    ResolvedField,
    find_edit_clauses,
    resolve_field,
    split_sentences,
)
from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.message import begins_with_denial, describe_situation
from convengine.engine.forms.session_form import (
    FACT_FIELDS,
    decide_schema,
    get_usable_form,
    lock_intent,
    set_form_facts,
)
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.prompts.select import choose_interaction, find_capabilities
from convengine.engine.rules.patterns import get_pattern
from convengine.engine.steps.correction.correct_form import correct_form
from convengine.engine.steps.correction.settings import REGEX_RETRY
from convengine.engine.steps.correction.stages import (
    CORRECTION_STEP_CONFIRM_ACCEPT,
    CORRECTION_STEP_CONFIRM_REFUSED,
    CORRECTION_STEP_CORRECTION_PATCH_APPLIED,
    CORRECTION_STEP_PATCH_NOT_APPLIED,
    CORRECTION_STEP_RETRY_REQUESTED,
)
from convengine.engine.text.compare import norm
from convengine.engine.text.words import fold, split_words
from convengine.engine.turn.enums import DecisionKind, DialogueAct, RoutingDecision
from convengine.engine.turn.rows import PromptTemplate
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.span import Situation

#: Session fields that routing may change.
ROUTE_FIELDS = FACT_FIELDS | {"context", "fields_read", "reply_override"}
Json = Any
_NOT_BUT = re.compile(r"\bnot\s+(?P<old>\S.*?),?\s+but\s+(?P<new>\S.*)", re.IGNORECASE | re.DOTALL)
_NOT = re.compile(
    r"(?P<new>\S.*?),?\s+(?:and\s+)?(?:not|instead of|rather than)\s+(?P<old>\S.*)", re.IGNORECASE | re.DOTALL
)
#: Words before a value alone, and before a value after its field's name.
_LEAD_IN = re.compile(
    r"^(?:(?:no|oh|wait|sorry|actually|please|well|rather|use|take|make it|it's|its|it is|(?:it )?(?:should|must) be|"
    r"i mean|i meant)\b[\s,.!:]*)+",
    re.IGNORECASE,
)
_IS = re.compile(r"^[\s,]*(?:(?:it\s+)?(?:is|(?:should|must)\s+be)|it's|to|as)\b\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Change:
    """One value to change."""

    field: Field
    value: Json


@dataclass(frozen=True)
class Patch:
    """The changes of a text, or the reason for none."""

    changes: tuple[Change, ...] = ()
    reason: str | None = None
    #: The field of the reason, in the words of the user or the schema.
    field: str | None = None


class CorrectionStep(Step):
    """Keep "yes", "change X to Y" and "try again" from being taken for new requests."""

    after = ("InteractionPolicyStep",)
    rank = 900
    requires_persisted = True
    writes = ROUTE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Route the turn and set `routing_decision`."""
        return Continue(route_turn(session, turn))


def route_turn(session: Session, turn: Turn) -> Session:
    """Route the message; `routing_decision` has the result."""
    act = DialogueAct.read(session.input_params.get("dialogue_act"))
    answered = act is DialogueAct.ANSWER
    first = RoutingDecision.HANDLE_AS_ANSWER if answered else RoutingDecision.CONTINUE_STANDARD_FLOW
    session = session.with_params(
        {
            "routing_decision": first.value,
            "skip_schema_extraction": False,
            "correction_applied": False,
            "correction_target_field": None,
        }
    )
    retry = _asks_for_retry(session, turn)
    if session.reset_only:
        return session
    if not (retry or act in (DialogueAct.AFFIRM, DialogueAct.EDIT)):
        return correct_form(session, turn)
    allowed = _find_allowed_interactions(session, turn)
    if retry and "retry" in allowed:
        session = _set_routing(session, RoutingDecision.RETRY_IN_PLACE)
        _audit_routing(session, turn, CORRECTION_STEP_RETRY_REQUESTED)
    elif act is DialogueAct.AFFIRM and "affirm" in allowed:
        return _accept_confirmation(session, turn)
    elif act is DialogueAct.EDIT:
        return _apply_edit(session, turn) if "edit" in allowed else correct_form(session, turn)
    return session


def _asks_for_retry(session: Session, turn: Turn) -> bool:
    text = norm(session.user_text)
    return bool(text) and get_pattern(session, turn, REGEX_RETRY).fits(text)


def _find_allowed_interactions(session: Session, turn: Turn) -> frozenset[str]:
    """What the current template allows, with its DECISION event."""
    if not turn.snapshot.rows(PromptTemplate):
        return frozenset()
    choice = choose_interaction(turn.snapshot, session.intent, session.state)
    turn.decide(
        session,
        DecisionKind.TEMPLATE,
        key={"use": "INTERACTION", "intent": session.intent, "state": session.state},
        winner=choice.winner,
        candidates=choice.candidates(),
        cut=choice.cut,
    )
    return find_capabilities(choice.winner) if choice.winner else frozenset()


def _accept_confirmation(session: Session, turn: Turn) -> Session:
    """A yes to a complete form goes on; to an incomplete one it reports the missing fields."""
    row = decide_schema(session, turn)
    form = get_usable_form(session, turn, row)
    if row is None or form is None:
        return session
    status = form.status(session.context)
    if not status.complete:
        _audit_routing(session, turn, CORRECTION_STEP_CONFIRM_REFUSED, missingFields=list(status.missing))
        return session
    session = _set_routing(lock_intent(set_form_facts(session, row, status), True), RoutingDecision.PROCEED_CONFIRMED)
    _audit_routing(session, turn, CORRECTION_STEP_CONFIRM_ACCEPT)
    return session


def _apply_edit(session: Session, turn: Turn) -> Session:
    """Change all values that the text names, or none."""
    row = decide_schema(session, turn)
    form = get_usable_form(session, turn, row)
    if row is None or form is None:
        return session
    patch = _read_patch(session, turn, form)
    if not patch.changes:
        _audit_routing(session, turn, CORRECTION_STEP_PATCH_NOT_APPLIED, reason=patch.reason, field=patch.field)
        return session
    before, fields = session.context, [change.field.path for change in patch.changes]
    session = session.with_context({change.field.path: change.value for change in patch.changes})
    status = form.status(session.context)
    session = _set_routing(
        lock_intent(set_form_facts(session, row, status), status.complete), RoutingDecision.APPLY_CORRECTION
    )
    session = session.with_params(
        {"correction_applied": True, "correction_target_field": fields[0], "correction_fields": fields}
    )
    for change in patch.changes:
        path = change.field.path
        _audit_routing(
            session,
            turn,
            CORRECTION_STEP_CORRECTION_PATCH_APPLIED,
            field=path,
            value=change.value,
            previousValue=before.get(path),
        )
    return session


def _read_patch(session: Session, turn: Turn, form: Form) -> Patch:
    try:
        return read_patch(session.user_text or "", form, session.context, describe_situation(session, turn, form))
    except Exception as error:
        # Whatever goes wrong, nothing was applied, and the turn goes on without the change.
        return Patch(reason="ERROR", field=f"{type(error).__name__}: {error}")


def _set_routing(session: Session, decision: RoutingDecision) -> Session:
    return session.with_params(
        {"routing_decision": decision.value, "skip_schema_extraction": True, "skip_intent_resolution": True}
    )


def _audit_routing(session: Session, turn: Turn, stage: Stage, **details: Any) -> None:
    turn.audit(
        session,
        stage,
        **details,
        intent=session.intent,
        state=session.state,
        routingDecision=session.input_params["routing_decision"],
    )


@dataclass(frozen=True)
class _RequestedChange:
    """A field and the words of its new value."""

    phrase: str
    resolved: ResolvedField
    value: str


def read_patch(text: str, form: Form, context: Mapping[str, Json], situation: Situation | None = None) -> Patch:
    """The changes that a text asks for. If one cannot be applied, none is."""
    changes: list[Change] = []
    for change in _list_requested_changes(text, form, context):
        field = change.resolved.field
        if field is None:
            return Patch(reason=change.resolved.reason, field=change.phrase)
        converted = _convert_value(change.value, field, form, context, situation)
        if converted.problem:
            return Patch(reason=converted.problem, field=field.path)
        changes.append(Change(field, converted.value))
    return Patch(tuple(changes)) if changes else Patch(reason=FIELD_UNKNOWN)


def _list_requested_changes(text: str, form: Form, context: Mapping[str, Json]) -> list[_RequestedChange]:
    if clauses := find_edit_clauses(text):
        return [
            _RequestedChange(clause.field, _resolve_phrase(clause.field, form, context), clause.value)
            for clause in clauses
        ]
    contrasts = list(_read_contrasts(text, form, context))
    return contrasts or list(_read_short_form(text, form))


def _resolve_phrase(phrase: str, form: Form, context: Mapping[str, Json]) -> ResolvedField:
    """The field that a phrase names; else the one with that value ("replace Dallas with Irving")."""
    resolved = resolve_field(phrase, form.fields)
    if resolved.field or resolved.reason != FIELD_UNKNOWN:
        return resolved
    holding = _find_fields_holding(phrase, form, context)
    return ResolvedField(holding[0]) if len(holding) == 1 else resolved


def _read_short_form(text: str, form: Form) -> Iterator[_RequestedChange]:
    """ "amount 350000": the only field whose name is in the text, and the words after it."""
    mentions = {field.path: (field, end) for field, end in _find_mentions(text, form)}
    if len(mentions) == 1:
        ((field, end),) = mentions.values()
        yield _RequestedChange(field.path, ResolvedField(field), _IS.sub("", next(split_sentences(text[end:]))))
    elif mentions:
        yield _RequestedChange(", ".join(mentions), ResolvedField(None, FIELD_AMBIGUOUS), "")


def _find_mentions(text: str, form: Form) -> Iterator[tuple[Field, int]]:
    """The fields whose names are in the text, longest names first, with the end of the name."""
    names = sorted(
        ((label, field) for field in form.fields for label in field.labels), key=lambda name: -sum(map(len, name[0]))
    )
    remaining = text
    for label, field in names:
        pattern = r"(?<![^\W_])" + r"[\s_-]*".join(map(re.escape, label)) + r"(?![^\W_])"
        if match := re.search(pattern, remaining, re.IGNORECASE):
            remaining = remaining[: match.start()] + "\0" * (match.end() - match.start()) + remaining[match.end() :]
            yield field, match.end()


def _read_contrasts(text: str, form: Form, context: Mapping[str, Json]) -> Iterator[_RequestedChange]:
    """ "use Irving not Dallas", "not Dallas but Irving": the only text field with the old value."""
    for sentence in split_sentences(text):
        match = _NOT_BUT.search(sentence) or _NOT.match(sentence)
        holding = _find_fields_holding(match["old"], form, context) if match else []
        if match and len(holding) == 1:
            yield _RequestedChange(holding[0].path, ResolvedField(holding[0]), _strip_lead_in(match["new"], holding[0]))


def _strip_lead_in(text: str, field: Field) -> str:
    """The new value without its lead-in: "no, use Irving", "the city is Irving"."""
    text = _LEAD_IN.sub("", clean_value(text))
    for label in field.labels:
        name = r"^(?:(?:the|my|our)\s+)?" + r"[\s_-]*".join(map(re.escape, label)) + r"(?![^\W_])"
        text = re.sub(name, "", text, flags=re.IGNORECASE)
    return text.strip()


def _find_fields_holding(value_text: str, form: Form, context: Mapping[str, Json]) -> list[Field]:
    wanted = split_words(clean_value(value_text))
    return [
        field
        for field in form.fields
        if wanted and isinstance(context.get(field.path), str) and split_words(context[field.path]) == wanted
    ]


def _convert_value(
    value_text: str, field: Field, form: Form, context: Mapping[str, Json], situation: Situation | None
) -> ConvertedValue:
    """Convert the value of a field. "Irving, not Dallas" means Irving if the field holds Dallas."""
    value = clean_value(value_text)
    contrast = _NOT.fullmatch(value)
    held = context.get(field.path)
    if contrast and held is not None and fold(clean_value(contrast["old"])) == fold(str(held)):
        value = clean_value(contrast["new"])
    if field.type == "string" and begins_with_denial(value, situation):
        return ConvertedValue(problem=VALUE_INVALID)
    return convert_value(value, field, form, situation)
