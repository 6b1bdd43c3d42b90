"""InteractionPolicyStep: route the turn by its act and by what the dialogue waits for."""

from dataclasses import dataclass

from convengine.engine.forms.user_answer import says_only
from convengine.engine.pending_actions import disambiguation
from convengine.engine.pending_actions.disambiguation import waits_for_action, waits_for_slot
from convengine.engine.pending_actions.settings import REQUIRE_RESOLVED_INTENT_AND_STATE
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.steps.interaction.stages import DISAMBIGUATION_RESOLVED, INTERACTION_POLICY_DECIDED
from convengine.engine.turn.enums import DialogueAct, PolicyDecision
from convengine.engine.turn.live_settings import boolean, declare, json_value
from convengine.engine.turn.owned_params import RoutingParams
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.scope import is_resolved, is_state_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.stages import CONFIG_VALUE_INVALID
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind

POLICY_FAMILY = "InteractionPolicyStep"

#: What may be pending when a message arrives; the left side of a matrix key.
SUBJECTS = ("PENDING_ACTION", "PENDING_SLOT", "NONE")

#: The decisions of the interaction policy; the values of the matrix.
DECISIONS = tuple(decision.value for decision in PolicyDecision)
MATRIX = declare(
    POLICY_FAMILY,
    "MATRIX",
    json_value(),
    {
        "PENDING_ACTION:AFFIRM": "EXECUTE_PENDING_ACTION",
        "PENDING_ACTION:NEGATE": "REJECT_PENDING_ACTION",
        "PENDING_SLOT:EDIT": "FILL_PENDING_SLOT",
        "PENDING_SLOT:QUESTION": "FILL_PENDING_SLOT",
        "PENDING_SLOT:NEGATE": "FILL_PENDING_SLOT",
        "PENDING_SLOT:AFFIRM": "FILL_PENDING_SLOT",
    },
    (
        "The decision for each pair of open item and dialogue act. It is merged over the default. An empty value "
        "removes an entry. To turn a behaviour off, also turn off its setting below."
    ),
    label="Routing decisions",
)
EXECUTE_PENDING_ON_AFFIRM = declare(
    POLICY_FAMILY,
    "EXECUTE_PENDING_ON_AFFIRM",
    boolean(),
    True,
    "A yes runs the action that is pending.",
    label="Yes runs the pending action",
)
REJECT_PENDING_ON_NEGATE = declare(
    POLICY_FAMILY,
    "REJECT_PENDING_ON_NEGATE",
    boolean(),
    True,
    "A no rejects the action that is pending.",
    label="No rejects the pending action",
)
FILL_PENDING_SLOT_ON_NON_NEW_REQUEST = declare(
    POLICY_FAMILY,
    "FILL_PENDING_SLOT_ON_NON_NEW_REQUEST",
    boolean(),
    True,
    "While one value is asked for, a message that is neither a new request nor a greeting is used as that value.",
    label="Use messages as the requested value",
)

#: Acts that are never the value of a slot.
_NO_VALUE = (DialogueAct.NEW_REQUEST, DialogueAct.GREETING, DialogueAct.RESET)


@dataclass(frozen=True)
class AwaitedInput:
    """What the dialogue waits for."""

    action: bool
    slot: bool
    #: Intent and state are known.
    resolved: bool

    @property
    def subject(self) -> str:
        """The left side of a matrix key."""
        return "PENDING_ACTION" if self.action else "PENDING_SLOT" if self.slot else "NONE"


@dataclass(frozen=True)
class PolicyOutcome:
    """A decision and the line of the table that made it."""

    decision: PolicyDecision
    by: str
    matrix_key: str | None = None

    @property
    def skips_resolution(self) -> bool:
        """True when the message needs no intent resolution."""
        return self.decision is not PolicyDecision.RECLASSIFY_INTENT


class InteractionPolicyStep(Step):
    """Keep a "yes" from being taken for a new topic."""

    after = ("DialogueActStep",)
    rank = 800
    always_runs = True
    requires_persisted = True
    writes = frozenset({"routing", "params", "clarification", "interaction_decision"})

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Set `policy_decision`, and `skip_intent_resolution` if the message needs no intent."""
        act = DialogueAct.read(session.dialogue.dialogue_act) or DialogueAct.NEW_REQUEST
        if session.reply_override is None:
            session, outcome = _read_action_reply(session, turn, act)
        else:
            # The turn is answered already, and the message meant nothing for what the dialogue waits for.
            outcome = PolicyOutcome(PolicyDecision.RECLASSIFY_INTENT, session.reply_override.source)
        known = is_resolved(session.intent) and is_state_resolved(session.state)
        required = turn.config(session, REQUIRE_RESOLVED_INTENT_AND_STATE)
        awaited = AwaitedInput(waits_for_action(session, turn), waits_for_slot(session), known or not required)
        outcome = outcome or apply_policy(session, turn, act, awaited)
        session = session.evolve(interaction_decision=outcome.decision.value).with_values(
            RoutingParams(policy_decision=outcome.decision.value, skip_intent_resolution=outcome.skips_resolution)
        )
        turn.audit(
            session,
            INTERACTION_POLICY_DECIDED,
            dialogueAct=act.value,
            policyDecision=outcome.decision.value,
            skipIntentResolution=outcome.skips_resolution,
            hasPendingAction=awaited.action,
            hasPendingSlot=awaited.slot,
            **session.where,
            decidedBy=outcome.by,
            matrixKey=outcome.matrix_key,
        )
        return Continue(session)


def _read_action_reply(session: Session, turn: Turn, act: DialogueAct) -> tuple[Session, PolicyOutcome | None]:
    """Read the reply to "which action do you mean?".

    The outcome is None if that is not asked, or the message does not answer it.
    """
    session = disambiguation.close_question_for_named_action(session)
    if not disambiguation.is_open(session):
        return session, None
    if act is DialogueAct.NEGATE:
        return session.evolve(clarification=None), PolicyOutcome(PolicyDecision.RECLASSIFY_INTENT, "P0")
    key = disambiguation.select_key(session, turn)
    if key is None:
        return session, None
    session = session.evolve(clarification=None).with_params({"pending_action_key": key})
    turn.audit(session, DISAMBIGUATION_RESOLVED, actionKey=key, reply=session.user_text)
    return session, PolicyOutcome(PolicyDecision.EXECUTE_PENDING_ACTION, "P0")


def apply_policy(session: Session, turn: Turn, act: DialogueAct, awaited: AwaitedInput) -> PolicyOutcome:
    """The decision of the first line that applies: P1 no known intent, P2 matrix, P3 to P5 settings, P6 the rest."""
    if not awaited.resolved:
        return PolicyOutcome(PolicyDecision.RECLASSIFY_INTENT, "P1")
    if awaited.action and act is DialogueAct.AFFIRM and _is_mere_praise(session, turn):
        return PolicyOutcome(PolicyDecision.RECLASSIFY_INTENT, "P6")
    key = f"{awaited.subject}:{act.value}"
    if decision := _decide_by_matrix(session, turn, key):
        return PolicyOutcome(decision, "P2", key)
    if awaited.action and act is DialogueAct.AFFIRM and turn.config(session, EXECUTE_PENDING_ON_AFFIRM):
        return PolicyOutcome(PolicyDecision.EXECUTE_PENDING_ACTION, "P3")
    if awaited.action and act is DialogueAct.NEGATE and turn.config(session, REJECT_PENDING_ON_NEGATE):
        return PolicyOutcome(PolicyDecision.REJECT_PENDING_ACTION, "P4")
    fills = turn.config(session, FILL_PENDING_SLOT_ON_NON_NEW_REQUEST)
    if awaited.slot and fills and act not in _NO_VALUE:
        return PolicyOutcome(PolicyDecision.FILL_PENDING_SLOT, "P5")
    return PolicyOutcome(PolicyDecision.RECLASSIFY_INTENT, "P6")


def _is_mere_praise(session: Session, turn: Turn) -> bool:
    """True for "looks good" where nothing was asked: it praises the answer and confirms no action."""
    return "?" not in to_spoken_text(session.last_assistant) and says_only(session, turn, MoveKind.PRAISE)


def _decide_by_matrix(session: Session, turn: Turn, key: str) -> PolicyDecision | None:
    """The matrix's decision for a key. Returns None without one, and for an invalid entry, which is recorded."""
    own = {str(name).replace(" ", "").upper(): value for name, value in turn.config(session, MATRIX).items()}
    entry = {**MATRIX.default, **own}.get(key)
    if entry is None or entry == "":
        return None
    decision = PolicyDecision.read(entry)
    if decision is None:
        turn.audit_once(
            session,
            CONFIG_VALUE_INVALID,
            f"{MATRIX.name} {key}",
            configType=MATRIX.type,
            configKey=MATRIX.key,
            value={key: entry},
            usedDefault=None,
            reason=f"{entry!r} is not a decision.",
        )
    return decision
