"""Stages of the state graph."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

STATE_GRAPH_VALID = declare_stage(
    "STATE_GRAPH_VALID",
    Family.RULE,
    "The state changed as the graph allows.",
    steps="StateGraphStep",
    keys="fromState toState intent path validateOnly allowed",
)
STATE_GRAPH_VIOLATION = declare_stage(
    "STATE_GRAPH_VIOLATION",
    Family.RULE,
    "The state changed in a way that the graph does not allow.",
    steps="StateGraphStep",
    keys="fromState toState intent path validateOnly allowed softBlock reason",
    sentences=(
        SentenceTemplate("The state graph does not allow the move from {fromState} to {toState}.", tone=Tone.WARNING),
    ),
)
STATE_GRAPH_REVERTED = declare_stage(
    "STATE_GRAPH_REVERTED",
    Family.RULE,
    "A move that the graph does not allow was taken back.",
    steps="StateGraphStep",
    keys="fromIntent toIntent fromState toState",
    sentences=(SentenceTemplate("Reverted the move from {fromState} to {toState}.", tone=Tone.WARNING),),
)
