"""Settings of the interaction policy."""

from convengine.engine.turn.enums import PolicyDecision
from convengine.engine.turn.live_settings import boolean, declare, json_value

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
