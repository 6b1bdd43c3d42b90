"""GuardrailStep: clean the text, and stop sensitive tools and actions without approval."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from convengine.engine.pending_actions import choice, record
from convengine.engine.pending_actions.choice import ActionScope, ProposedAction
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.rules.patterns import MAX_INPUT, PatternError, audit_unusable, compile_pattern
from convengine.engine.steps.actions.action_lifecycle import LIFECYCLE_FIELDS, reopen_action
from convengine.engine.steps.actions.stages import GUARDRAIL_ALLOW, GUARDRAIL_DENY
from convengine.engine.text.compare import blank, code, truthy
from convengine.engine.turn.codec import loads
from convengine.engine.turn.enums import PolicyDecision
from convengine.engine.turn.live_settings import boolean, declare, text, text_list
from convengine.engine.turn.owned_params import ActionParams, RoutingParams
from convengine.engine.turn.session import ReplyOverride, Session
from convengine.engine.turn.turn import Turn

GUARDRAIL_FAMILY = "GuardrailStep"

GUARDRAIL_ENABLED = declare(
    GUARDRAIL_FAMILY,
    "ENABLED",
    boolean(),
    True,
    "If off, messages and actions are not checked.",
    mark="LR",
    label="Check messages and actions",
)
SANITIZE_INPUT = declare(
    GUARDRAIL_FAMILY,
    "SANITIZE_INPUT",
    boolean(),
    True,
    "Publish a cleaned copy of the message (one line, single blanks) as sanitized_user_text.",
    label="Publish a cleaned message",
)
REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS = declare(
    GUARDRAIL_FAMILY,
    "REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS",
    boolean(),
    False,
    "Block tools and actions of a sensitive message until the request has an approval.",
    mark="LR",
    label="Approval for sensitive actions",
)
APPROVAL_GATE_FAIL_CLOSED = declare(
    GUARDRAIL_FAMILY,
    "APPROVAL_GATE_FAIL_CLOSED",
    boolean(),
    False,
    "An invalid pattern counts as a match (true) or as no match (false).",
    mark="LR",
    label="An invalid pattern counts as a match",
)
SENSITIVE_PATTERNS = declare(
    GUARDRAIL_FAMILY,
    "SENSITIVE_PATTERNS",
    replace(text_list(lines=True), name="patterns"),
    (),
    (
        "Regular expressions for sensitive content, one per line, such as \\biban\\b. They are searched in the message "
        "and in the action or tool."
    ),
)
DENY_RESPONSE = declare(
    GUARDRAIL_FAMILY,
    "DENY_RESPONSE",
    text(),
    "",
    "The answer if the approval is missing. If empty, the normal answer of the state.",
    label="Answer without approval",
)

REASON = "SENSITIVE_ACTION_APPROVAL_REQUIRED"

#: Invisible characters: controls except white space, zero widths, direction marks.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class SensitiveMatch:
    """What made a turn sensitive."""

    #: TEXT, ACTION or TOOL.
    matched_on: str
    #: The index in SENSITIVE_PATTERNS, from 0.
    pattern_index: int


@dataclass(frozen=True)
class Assessment:
    """The guardrail's result for a turn."""

    text: str
    sensitive: SensitiveMatch | None
    required: bool
    approved: bool

    @property
    def is_denied(self) -> bool:
        """True when approval is required and missing."""
        return self.required and not self.approved


class GuardrailStep(Step):
    """Allow, or deny with flags for later steps."""

    after = ("DisambiguationStep",)
    rank = 1200
    always_runs = True
    requires_persisted = True
    writes = LIFECYCLE_FIELDS | {"reply_override"}

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Write exactly one of GUARDRAIL_ALLOW and GUARDRAIL_DENY, unless the step is disabled."""
        if not turn.config(session, GUARDRAIL_ENABLED):
            return Continue(session)
        assessment = assess_sensitivity(session, turn)
        if turn.config(session, SANITIZE_INPUT):
            session = session.with_values(ActionParams(sanitized_user_text=assessment.text))
        if assessment.is_denied:
            return Continue(_deny_turn(session, turn, assessment))
        # Keep the skip flags of this turn: an expired action must not run because its text is harmless.
        session = session.with_values(ActionParams(guardrail_blocked=False))
        turn.audit(
            session,
            GUARDRAIL_ALLOW,
            result="ALLOW",
            sensitive=assessment.sensitive is not None,
            approvalRequired=assessment.required,
            approvalGranted=assessment.approved,
            **session.where,
        )
        return Continue(session)


def _deny_turn(session: Session, turn: Turn, assessment: Assessment) -> Session:
    """Set the flags that keep tools and actions from running, and record it. A rejection of the action stays.

    A confirmed action is open again afterwards.
    """
    rejecting = session.routing.policy_decision == PolicyDecision.REJECT_PENDING_ACTION
    decision = PolicyDecision.REJECT_PENDING_ACTION if rejecting else PolicyDecision.RECLASSIFY_INTENT
    session = session.with_values(
        ActionParams(
            guardrail_blocked=True,
            guardrail_reason=REASON,
            skip_tool_execution=True,
            skip_pending_action_execution=True,
        ),
        RoutingParams(policy_decision=decision.value),
    )
    if text := turn.config(session, DENY_RESPONSE):
        session = session.evolve(reply_override=ReplyOverride(text, "GUARDRAIL"))
    turn.audit(
        session,
        GUARDRAIL_DENY,
        result="DENY",
        reason=REASON,
        sensitive=True,
        approvalGranted=assessment.approved,
        userText=assessment.text,
        **session.where,
        matchedOn=assessment.sensitive.matched_on if assessment.sensitive else None,
        patternIndex=assessment.sensitive.pattern_index if assessment.sensitive else None,
    )
    return reopen_action(session, turn)


def sanitize_text(text: str | None) -> str:
    """The text on one line with single blanks and without invisible characters."""
    return _SPACES.sub(" ", _INVISIBLE.sub("", text or "")).strip()


def assess_sensitivity(session: Session, turn: Turn) -> Assessment:
    """Test the user's text, the action that a yes would run now, and the requested tool."""
    text = sanitize_text(session.user_text)
    is_decided = session.routing.policy_decision == PolicyDecision.EXECUTE_PENDING_ACTION
    action = choice.choose_action(session, turn, ActionScope.of(session)).action if is_decided else None
    sensitive = _find_sensitive_match(session, turn, list(_list_subjects(session, text, action)))
    required = sensitive is not None and turn.config(session, REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS)
    return Assessment(text, sensitive, required, _is_approved(session, action))


def _list_subjects(session: Session, text: str, action: ProposedAction | None) -> Iterator[tuple[str, str]]:
    """(name, text) of all that is tested: the message, the action that a yes would run, and the requested tool."""
    # A long text is tested in overlapping pieces, so that padding cannot hide a word.
    for start in range(0, len(text), MAX_INPUT // 2):
        yield "TEXT", text[start : start + MAX_INPUT]
        if start + MAX_INPUT >= len(text):
            break
    if action:
        yield "ACTION", action.key
        yield "ACTION", (action.row.description if action.row else None) or ""
        yield "ACTION", action.reference
    request = session.tools.tool_request
    try:
        request = loads(request) if isinstance(request, str) else request
    except ValueError:
        request = None
    wanted = request.get("tool_code") if isinstance(request, Mapping) else None
    yield "TOOL", wanted if isinstance(wanted, str) else ""


def _find_sensitive_match(session: Session, turn: Turn, subjects: list[tuple[str, str]]) -> SensitiveMatch | None:
    """The first pattern that matches one of the (name, text) `subjects`. Returns None if none matches.

    An unusable pattern is recorded, and counts as a match if APPROVAL_GATE_FAIL_CLOSED is set.
    """
    named_texts = [(name, text) for name, text in subjects if not blank(text)]
    patterns = turn.config(session, SENSITIVE_PATTERNS)
    closed = turn.config(session, APPROVAL_GATE_FAIL_CLOSED)
    for index, source in enumerate(patterns):
        try:
            pattern = compile_pattern(source)
        except PatternError as error:
            audit_unusable(session, turn, SENSITIVE_PATTERNS, source, error)
            if named_texts and closed:
                return SensitiveMatch(named_texts[0][0], index)
            continue
        for name, subject in named_texts:
            if pattern.occurs_in(subject):
                return SensitiveMatch(name, index)
    return None


def _is_approved(session: Session, action: ProposedAction | None) -> bool:
    """True when a param of this request approves, or the context has an approval of this action and time."""
    sent: Any = session.user_input_params
    if truthy(sent.get("approval_granted")) or truthy(sent.get("approvalGranted")):
        return True
    approval = session.context.get("approval")
    if not isinstance(approval, Mapping) or not truthy(approval.get("granted")):
        return False
    key = approval.get("actionKey")
    covers_action = key is None or (action is not None and code(str(key)) == code(action.key))
    return covers_action and _covers_turn(session, approval.get("turn"), action)


def _covers_turn(session: Session, turn_no: Any, action: ProposedAction | None) -> bool:
    """True when the approval belongs to the time when this action was open; without an action, to this turn."""
    if turn_no is None:
        return True
    current = record.read_record(session)
    since = current.created_turn if action and current and current.is_for(action) else session.turn_no
    return isinstance(turn_no, int) and since <= turn_no <= session.turn_no
