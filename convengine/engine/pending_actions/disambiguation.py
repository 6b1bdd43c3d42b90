"""The question which of several actions is meant, and its reply."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.engine.forms.asking import read_text_setting
from convengine.engine.forms.form import is_meaningful
from convengine.engine.forms.single_field import choose_option
from convengine.engine.pending_actions import choice, record
from convengine.engine.pending_actions.choice import ActionChoice, ActionScope, build_action, list_pending_rows
from convengine.engine.pending_actions.record import LIVE, Record
from convengine.engine.pending_actions.settings import (
    DISAMBIGUATION_ENABLED,
    ENABLE_LLM,
    LLM_SYSTEM_PROMPT,
    LLM_USER_PROMPT,
    MAX_ASKS,
    MAX_OPTIONS,
    QUESTION_TEMPLATE,
)
from convengine.engine.pending_actions.stages import (
    DISAMBIGUATION_LLM_ERROR,
    DISAMBIGUATION_LLM_INPUT,
    DISAMBIGUATION_LLM_OUTPUT,
    DISAMBIGUATION_REQUIRED,
    PENDING_ACTION_LIFECYCLE,
)
from convengine.engine.prompts.chosen_text import choose_text
from convengine.engine.prompts.fill import ask_for_text
from convengine.engine.prompts.render import render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.text.compare import blank, code, truthy
from convengine.engine.turn.enums import PolicyDecision
from convengine.engine.turn.owned_params import ActionParams, RoutingParams
from convengine.engine.turn.session import Clarification, ReplyOverride, Session
from convengine.engine.turn.turn import Turn, once_per_moment

#: Reason of the question, and source of its reply.
REASON = "PENDING_ACTION_DISAMBIGUATION"
SOURCE = "DISAMBIGUATION"

_STAGES = (DISAMBIGUATION_LLM_INPUT, DISAMBIGUATION_LLM_OUTPUT, DISAMBIGUATION_LLM_ERROR)
#: The model's text does not name every option, so it would hide one from the user.
OPTION_OMITTED = "OPTION_OMITTED"
_IN_CONTEXT = ("pending_action", "pendingAction")
_IN_PARAMS = ("pending_action", "pendingAction", "pending_action_key", "pending_action_task")


@dataclass(frozen=True)
class OfferedAction:
    """One action to choose. An action that is not offered can be named, but has no number."""

    key: str
    label: str
    offered: bool = True

    def to_json(self) -> dict[str, Any]:
        """The option as the clarification stores it."""
        return {"actionKey": self.key, "label": self.label, **({} if self.offered else {"offered": False})}


def is_open(session: Session) -> bool:
    """True while the question of an earlier turn waits for its reply."""
    clarification = session.clarification
    return clarification is not None and clarification.reason == REASON and clarification.from_previous_turn


def close_question_for_named_action(session: Session) -> Session:
    """Drop the question if the request names the action itself."""
    named = not blank(session.user_input_params.get("pending_action_key"))
    return session.evolve(clarification=None) if named and is_open(session) else session


def select_key(session: Session, turn: Turn) -> str | None:
    """The key of the only option that the reply means and whose action can still run. Returns None if there is none."""
    options = _read_options(session.clarification)
    labels = {option.key: option.label for option in options}
    key = choose_option(session, turn, labels, [option.key for option in options if option.offered])
    if key is None:
        return None
    eligible = choice.list_pending_rows(turn.snapshot, ActionScope.of(session))
    return key if any(code(row.action_key) == code(key) for row in eligible) else None


def may_ask_which_action(session: Session) -> bool:
    """True after a yes to an action, and while the question of an earlier turn waits."""
    return _is_confirmed(session) or is_open(session)


def _is_confirmed(session: Session) -> bool:
    return PolicyDecision.read(session.routing.policy_decision) is PolicyDecision.EXECUTE_PENDING_ACTION


def ask_which_action(session: Session, turn: Turn) -> Session:
    """Ask when a yes could mean several actions, repeat an unanswered question, drop a settled one."""
    confirmed, before = _is_confirmed(session), session.clarification if is_open(session) else None
    action_choice = choice.choose_action(session, turn, ActionScope.of(session))
    options = _list_options(session, turn, action_choice)
    if before and _list_keys(_read_options(before)) != _list_keys(options):
        session, before = session.evolve(clarification=None), None
    # Unanswered: neither the policy nor a correction used the message.
    is_unanswered = before is not None and not truthy(session.routing.skip_intent_resolution)
    if not options or not (confirmed or is_unanswered):
        return session
    asks = before.asks + 1 if before else 1
    if asks > turn.config(session, MAX_ASKS):
        return session.evolve(clarification=None)
    return _ask(session, turn, action_choice, options, asks)


def _ask(
    session: Session, turn: Turn, action_choice: ActionChoice, options: Sequence[OfferedAction], asks: int
) -> Session:
    offered = [option for option in options if option.offered]
    question, source = _build_question(session, turn, action_choice, offered)
    stored = tuple(option.to_json() for option in options)
    cut: dict[str, Any] = {"truncated": True} if len(offered) < len(options) else {}
    session = session.evolve(
        clarification=Clarification(question, REASON, stored, asks=asks),
        reply_override=ReplyOverride(question, SOURCE),
    ).with_values(
        RoutingParams(policy_decision=PolicyDecision.RECLASSIFY_INTENT.value),
        ActionParams(pending_action_disambiguation_required=True),
    )
    choice.audit_choice(session, turn, action_choice)
    turn.audit(
        session,
        DISAMBIGUATION_REQUIRED,
        reason="MULTIPLE_PENDING_ACTIONS",
        question=question,
        candidateCount=len(action_choice.ambiguous),
        options=[option.label for option in offered],
        **session.where,
        questionSource=source,
        **cut,
    )
    return session


def _build_question(
    session: Session, turn: Turn, action_choice: ActionChoice, offered: Sequence[OfferedAction]
) -> tuple[str, str]:
    """The question and its source: the model's text, else the template's, else the built-in one."""
    keys = [option.key for option in offered]
    names = {
        "options": ", ".join(option.label for option in offered),
        "candidate_count": len(action_choice.ambiguous),
        "action_keys": ", ".join(keys),
    }
    if text := ask_model_for_question(session, turn, names, keys):
        return text, "LLM"
    variables = build_variables(session, turn, **names)
    texts = (read_text_setting(session, turn, QUESTION_TEMPLATE), QUESTION_TEMPLATE.default)
    rendered = (render_lenient(choose_text(session, turn, template), variables).text for template in texts)
    return next(text for text in rendered if not blank(text)), "TEMPLATE"


def _list_options(session: Session, turn: Turn, action_choice: ActionChoice) -> tuple[OfferedAction, ...]:
    """The ambiguous actions without those that are done; none if nothing is asked."""
    if not turn.config(session, DISAMBIGUATION_ENABLED):
        return ()
    current, limit = record.read_record(session), turn.config(session, MAX_OPTIONS)
    named: dict[str, tuple[str, str]] = {}
    for row in action_choice.ambiguous:
        action = choice.build_action(row)
        if not blank(row.action_key) and not (current and action and current.settles(action)):
            about = "" if row.description is None or blank(row.description) else f" ({row.description.strip()})"
            named.setdefault(code(row.action_key), (row.action_key, f"{row.action_key}{about}"))
    return tuple(OfferedAction(key, label, index < limit) for index, (key, label) in enumerate(named.values()))


def _list_keys(options: Sequence[OfferedAction]) -> frozenset[str]:
    return frozenset(code(option.key) for option in options)


def _read_options(clarification: Clarification | None) -> list[OfferedAction]:
    """The stored options; invalid ones are left out."""
    return [
        OfferedAction(
            str(option["actionKey"]),
            str(option.get("label") or option["actionKey"]),
            option.get("offered") is not False,
        )
        for option in (clarification.options if clarification else ())
        if isinstance(option, Mapping) and isinstance(option.get("actionKey"), str)
    ]


def ask_model_for_question(session: Session, turn: Turn, names: Mapping[str, Any], keys: Collection[str]) -> str:
    """The model's question, which names each key; blank if there is none."""
    if not turn.config(session, ENABLE_LLM):
        return ""
    prompts = {"system": LLM_SYSTEM_PROMPT, "user": LLM_USER_PROMPT}
    text = ask_for_text(session, turn, "DISAMBIGUATION", _STAGES, **prompts, **names)
    omitted = [key for key in keys if key.lower() not in text.lower()] if text else []
    if omitted:
        message = "The question does not name every option, so the template's is asked."
        turn.audit(session, DISAMBIGUATION_LLM_ERROR, errorCode=OPTION_OMITTED, message=message, omitted=omitted)
    return "" if omitted else text


def waits_for_action(session: Session, turn: Turn) -> bool:
    """True when an action is proposed: by the context, by the request, by a rule, or by a row in scope."""
    return (
        any(is_meaningful(session.context.get(name)) for name in _IN_CONTEXT)
        or any(is_meaningful(session.params.get(name)) for name in _IN_PARAMS)
        or is_proposed_by_table(session, turn)
    )


def waits_for_slot(session: Session) -> bool:
    """True when a rule or an integrator asked for one value."""
    return any(is_meaningful(session.context.get(name)) for name in ("pending_slot", "pendingSlot"))


@once_per_moment
def is_proposed_by_table(session: Session, turn: Turn) -> bool:
    """True when a row in scope is not done yet."""
    scope = ActionScope.of(session)
    if not scope.resolved:
        return False
    current = record.read_record(session)
    done = current if current and current.scope == str(scope) else None
    proposed = (build_action(row) for row in list_pending_rows(turn.snapshot, scope))
    return any(not (done and action and done.settles(action)) for action in proposed)


def has_open_action(session: Session, turn: Turn) -> bool:
    """True when an action waits for a yes: its record is open, or a row in scope is eligible.

    An action of an intent or a state that was left waits for nothing.
    """
    current = record.read_record(session)
    is_open = current is not None and current.status in record.LIVE and current.scope == str(ActionScope.of(session))
    return is_open or is_proposed_by_table(session, turn)


def drop_record_of_other_scope(session: Session, turn: Turn) -> Session:
    """Remove the record of another intent or state."""
    current = record.read_record(session)
    if current is None or current.scope == str(ActionScope.of(session)):
        return session
    if current.status in LIVE:
        session = record.end_record(session)
    session = drop_question(session.without_context(record.RECORD))
    proposed_key = session.params.get("pending_action_key")
    if code(str(proposed_key)) == code(current.action_key) and "pending_action_key" not in session.user_input_params:
        session = session.without_params("pending_action_key")
    audit_lifecycle(session, turn, current, "SCOPE_LEFT")
    return session


def drop_question(session: Session) -> Session:
    """The session without the question which action is meant."""
    question = session.clarification
    return session.evolve(clarification=None) if question and question.reason == REASON else session


def audit_lifecycle(
    session: Session, turn: Turn, current: Record, event: str, more: Mapping[str, Any] | None = None
) -> None:
    turn.audit(
        session,
        PENDING_ACTION_LIFECYCLE,
        event=event,
        status=current.status.value,
        actionKey=current.action_key,
        actionRef=current.action_ref,
        **(more or {}),
    )
