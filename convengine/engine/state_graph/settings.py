"""Settings of the state graph."""

from convengine.engine.turn.live_settings import boolean, declare, one_of

GRAPH_FAMILY = "StateGraphStep"

STATE_GRAPH_ENABLED = declare(
    GRAPH_FAMILY,
    "ENABLED",
    boolean(),
    True,
    "Check the moves between states against the state graph.",
    label="Check state changes",
)
ON_VIOLATION = declare(
    GRAPH_FAMILY,
    "ON_VIOLATION",
    one_of("AUDIT_ONLY", "SOFT_BLOCK", "REVERT"),
    "AUDIT_ONLY",
    (
        "What happens to a move that the graph does not allow: it is recorded (AUDIT_ONLY), also flagged for "
        "answers and rules (SOFT_BLOCK), or reverted to the intent and state at the start of the turn (REVERT)."
    ),
    label="If a state change is not allowed",
)


ALLOW_LLM_STATE_OVERRIDE = declare(
    "ResponseResolutionStep",
    "ALLOW_LLM_STATE_OVERRIDE",
    boolean(),
    False,
    "Let “intent” and “state” in a JSON answer written by the model change the conversation's.",
    mark="LR",
    label="The model's answer may set intent and state",
)
