"""Every live setting, declared once, a module a family; importing this package completes the catalogue."""

from convengine.domain.catalogue import (
    audit,
    data,
    dialogue,
    executors,
    intents,
    interaction,
    llm,
    memory,
    policy,
    response,
    rules,
    session,
    tools,
    verbose,
)

__all__ = [
    "audit",
    "data",
    "dialogue",
    "executors",
    "intents",
    "interaction",
    "llm",
    "memory",
    "policy",
    "response",
    "rules",
    "session",
    "tools",
    "verbose",
]
