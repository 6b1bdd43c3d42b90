"""The kinds of what a session may prefer (R55)."""

KNOWLEDGE_BASE = "knowledge_base"
KINDS = ("model", "planner", "intent_resolver", KNOWLEDGE_BASE, "tool_set")
