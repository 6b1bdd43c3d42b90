"""Admin pages of the server's tables: users, conversations, threads, turns, memory, claims and queues."""

from convengine.server.admin import conversation, once_only, people, session_memory, thread, turn

__all__ = ["conversation", "once_only", "people", "session_memory", "thread", "turn"]
