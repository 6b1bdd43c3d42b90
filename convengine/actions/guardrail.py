"""Holding sensitive actions and tools back until somebody approves (pipeline-1 13; R91, R99, R107)."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from convengine.actions import choice, record
from convengine.actions.choice import Action, Scope
from convengine.domain.catalogue.interaction import (
    APPROVAL_GATE_FAIL_CLOSED,
    REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS,
    SENSITIVE_PATTERNS,
)
from convengine.domain.enums import PolicyDecision
from convengine.domain.session import Session
from convengine.domain.text import blank, code, truthy
from convengine.domain.turn import Turn
from convengine.rules.pattern_settings import tell_unusable
from convengine.rules.patterns import MAX_INPUT, Pattern, PatternError, compile_pattern

#: Characters that show nothing: controls other than white space, zero widths, marks of direction.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Sensitive:
    """What made a turn sensitive."""

    #: TEXT, ACTION or TOOL.
    matched_on: str
    #: Which of SENSITIVE_PATTERNS, counted from 0.
    pattern_index: int


@dataclass(frozen=True)
class Judgement:
    """What the guardrail says of a turn."""

    text: str
    sensitive: Sensitive | None
    required: bool
    approved: bool

    @property
    def denied(self) -> bool:
        """True when approval is required and missing."""
        return self.required and not self.approved


def sanitized(text: str | None) -> str:
    """The text on one line: line breaks, tabs and runs of blanks are one blank, what shows nothing is gone."""
    return _SPACES.sub(" ", _INVISIBLE.sub("", text or "")).strip()


def judge(session: Session, turn: Turn) -> Judgement:
    """Look at the words of the user, at the action that a yes would run now, and at the tool that is asked for."""
    text, action = sanitized(session.user_text), _about_to_run(session, turn)
    sensitive = _sensitive(session, turn, list(_subjects(session, text, action)))
    required = sensitive is not None and turn.config(session, REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS)
    return Judgement(text, sensitive, required, _approved(session, action))


def _about_to_run(session: Session, turn: Turn) -> Action | None:
    if session.input_params.get("policy_decision") != PolicyDecision.EXECUTE_PENDING_ACTION:
        return None
    return choice.choose(session, turn, Scope.of(session)).action


def _subjects(session: Session, text: str, action: Action | None) -> Iterator[tuple[str, str]]:
    """Everything that patterns are looked for in, each with its name."""
    # A long text is looked at piece by piece: padding must not push a word out of sight.
    for start in range(0, len(text), MAX_INPUT // 2):
        yield "TEXT", text[start : start + MAX_INPUT]
        if start + MAX_INPUT >= len(text):
            break
    if action:
        yield "ACTION", action.key
        yield "ACTION", (action.row.description if action.row else None) or ""
        yield "ACTION", action.reference
    yield "TOOL", _requested_tool(session)


def _requested_tool(session: Session) -> str:
    request = session.input_params.get("tool_request")
    if isinstance(request, str):
        try:
            request = json.loads(request)
        except ValueError:
            return ""
    wanted = request.get("tool_code") if isinstance(request, Mapping) else None
    return wanted if isinstance(wanted, str) else ""


def _sensitive(session: Session, turn: Turn, subjects: list[tuple[str, str]]) -> Sensitive | None:
    said = [(name, text) for name, text in subjects if not blank(text)]
    patterns = turn.config(session, SENSITIVE_PATTERNS)
    closed = turn.config(session, APPROVAL_GATE_FAIL_CLOSED)
    for index, text in enumerate(patterns):
        pattern = _compiled(session, turn, text)
        if pattern is None:
            if said and closed:
                return Sensitive(said[0][0], index)
            continue
        for name, subject in said:
            if pattern.found(subject):
                return Sensitive(name, index)
    return None


def _compiled(session: Session, turn: Turn, text: str) -> Pattern | None:
    try:
        return compile_pattern(text)
    except PatternError as error:
        tell_unusable(session, turn, SENSITIVE_PATTERNS, text, error)
        return None


def _approved(session: Session, action: Action | None) -> bool:
    """The request approves for itself; the context for what it is tied to, where it is tied to something."""
    sent: Any = session.user_input_params
    if truthy(sent.get("approval_granted")) or truthy(sent.get("approvalGranted")):
        return True
    approval = session.context.get("approval")
    if not isinstance(approval, Mapping) or not truthy(approval.get("granted")):
        return False
    return _tied_to_turn(session, approval.get("turn"), action) and _tied_to_action(approval.get("actionKey"), action)


def _tied_to_turn(session: Session, turn_no: Any, action: Action | None) -> bool:
    """Given while this action was open; without an action, in this very turn."""
    if turn_no is None:
        return True
    found = record.read(session)
    since = found.created_turn if action and found and found.is_for(action) else session.turn_no
    return isinstance(turn_no, int) and since <= turn_no <= session.turn_no


def _tied_to_action(key: Any, action: Action | None) -> bool:
    return key is None or (action is not None and code(str(key)) == code(action.key))
