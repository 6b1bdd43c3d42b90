"""Stages of the memory step."""

from convengine.engine.turn.stage import Family, declare_stage

MEMORY_UPDATED = declare_stage(
    "MEMORY_UPDATED",
    Family.SESSION,
    "What the conversation remembers was brought up to date.",
    steps="MemoryStep",
    keys="summaryChars recalled stores intent state",
    common=True,
)
