"""Admin pages of the server's tables: users, conversations, threads, turns, memory, claims and queues."""

from convengine.server.admin import conversation, memory, once_only, people, thread, turn

__all__ = ["conversation", "memory", "once_only", "people", "thread", "turn"]
