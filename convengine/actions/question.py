"""Which of several actions is meant: the question, and what its reply says (pipeline-1 9.3 and 12; R37, R101)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.actions import choice, record
from convengine.actions.choice import Choice, Scope
from convengine.actions.wording import worded
from convengine.domain.catalogue.interaction import (
    DISAMBIGUATION_ENABLED,
    MAX_ASKS,
    MAX_OPTIONS,
    QUESTION_TEMPLATE,
)
from convengine.domain.enums import PolicyDecision
from convengine.domain.options import selected
from convengine.domain.rows import PendingAction
from convengine.domain.session import Clarification, ReplyOverride, Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, code, match_text, truthy
from convengine.domain.turn import Turn
from convengine.prompts.render import render_lenient
from convengine.prompts.variables import template_variables

#: Reason of the question, and source of the reply that puts it.
REASON = "PENDING_ACTION_DISAMBIGUATION"
SOURCE = "DISAMBIGUATION"


@dataclass(frozen=True)
class Option:
    """One action to choose. One that is not offered can be named, but has no number."""

    key: str
    label: str
    offered: bool = True

    def stored(self) -> dict[str, Any]:
        """The option as the clarification keeps it."""
        return {"actionKey": self.key, "label": self.label, **({} if self.offered else {"offered": False})}


def is_open(session: Session) -> bool:
    """True while the question of an earlier turn waits for its reply."""
    asked = session.clarification
    return asked is not None and asked.reason == REASON and asked.from_previous_turn


def closed_by_key(session: Session) -> Session:
    """Without the question when the request names the action itself (R37)."""
    named = not blank(session.user_input_params.get("pending_action_key"))
    return session.evolve(clarification=None) if named and is_open(session) else session


def selected_key(session: Session, turn: Turn) -> str | None:
    """The key of the one option that the reply means and whose action can still be run; null when there is none."""
    options = _options_of(session.clarification)
    by_number = match_text(session.user_text).isdecimal()
    pool = [option for option in options if option.offered or not by_number]
    index = selected(session.user_text, [(option.key, option.label) for option in pool])
    if index is None:
        return None
    key = pool[index].key
    eligible = choice.pending_rows(turn.snapshot, Scope.of(session))
    return key if any(code(row.action_key) == code(key) for row in eligible) else None


def disambiguate(session: Session, turn: Turn) -> Session:
    """Ask when a yes could mean several actions; repeat an open question that was not answered; drop a settled one."""
    confirmed = session.input_params.get("policy_decision") == PolicyDecision.EXECUTE_PENDING_ACTION
    before = session.clarification if is_open(session) else None
    if not confirmed and before is None:
        return session
    chosen = choice.choose(session, turn, Scope.of(session))
    options = _options(session, turn, chosen)
    if before and _keys(_options_of(before)) != _keys(options):
        session, before = session.evolve(clarification=None), None
    if not options or not (confirmed or (before and _unanswered(session))):
        return session
    asks = before.asks + 1 if before else 1
    if asks > turn.config(session, MAX_ASKS):
        return session.evolve(clarification=None)
    return _ask(session, turn, chosen, options, asks)


def _unanswered(session: Session) -> bool:
    """Nobody else found a meaning in the message so far: neither the policy nor a correction."""
    return not truthy(session.input_params.get("skip_intent_resolution"))


def _ask(session: Session, turn: Turn, chosen: Choice, options: Sequence[Option], asks: int) -> Session:
    offered = [option for option in options if option.offered]
    question, source = _question(session, turn, chosen, offered)
    stored = tuple(option.stored() for option in options)
    cut: dict[str, Any] = {"truncated": True} if len(offered) < len(options) else {}
    session = session.evolve(
        clarification=Clarification(question, REASON, stored, asks=asks),
        reply_override=ReplyOverride(question, SOURCE),
    ).with_params(
        {
            "policy_decision": PolicyDecision.RECLASSIFY_INTENT.value,
            "pending_action_disambiguation_required": True,
        }
    )
    choice.tell(session, turn, chosen)
    turn.audit(
        session,
        Stage.DISAMBIGUATION_REQUIRED,
        reason="MULTIPLE_PENDING_ACTIONS",
        question=question,
        candidateCount=len(chosen.ambiguous),
        options=[option.label for option in offered],
        intent=session.intent,
        state=session.state,
        questionSource=source,
        **cut,
    )
    return session


def _question(session: Session, turn: Turn, chosen: Choice, offered: Sequence[Option]) -> tuple[str, str]:
    """The model's text, else the template's, else the built-in one where that says nothing; and whose it is."""
    keys = [option.key for option in offered]
    names = {
        "options": ", ".join(option.label for option in offered),
        "candidate_count": len(chosen.ambiguous),
        "action_keys": ", ".join(keys),
    }
    if text := worded(session, turn, names, keys):
        return text, "LLM"
    variables = template_variables(session, turn, **names)
    texts = (turn.config(session, QUESTION_TEMPLATE), QUESTION_TEMPLATE.default)
    rendered = (render_lenient(template, variables).text for template in texts)
    return next(text for text in rendered if not blank(text)), "TEMPLATE"


def _options(session: Session, turn: Turn, chosen: Choice) -> tuple[Option, ...]:
    """The actions between which nobody can choose, those aside that are done with; none where nothing is asked."""
    if not turn.config(session, DISAMBIGUATION_ENABLED):
        return ()
    done, limit = record.read(session), turn.config(session, MAX_OPTIONS)
    left: dict[str, PendingAction] = {}
    for row in chosen.ambiguous:
        action = choice.action_of(row)
        if not blank(row.action_key) and not (done and action and done.settles(action)):
            left.setdefault(code(row.action_key), row)
    return tuple(Option(row.action_key, _label(row), place < limit) for place, row in enumerate(left.values()))


def _label(row: PendingAction) -> str:
    return (
        row.action_key
        if row.description is None or blank(row.description)
        else (f"{row.action_key} ({row.description.strip()})")
    )


def _keys(options: Sequence[Option]) -> frozenset[str]:
    return frozenset(code(option.key) for option in options)


def _options_of(asked: Clarification | None) -> list[Option]:
    """The options as they were stored; what is no option is left out."""
    return [
        Option(str(one["actionKey"]), str(one.get("label") or one["actionKey"]), one.get("offered") is not False)
        for one in (asked.options if asked else ())
        if isinstance(one, Mapping) and isinstance(one.get("actionKey"), str)
    ]
