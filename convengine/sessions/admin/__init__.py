"""Admin pages of conversations, to read: one module a subject."""

from convengine.sessions.admin import conversation, memory, running, thread, turn

__all__ = ["conversation", "memory", "running", "thread", "turn"]
