"""Settings of memory: history, and the summary of a conversation."""

from convengine.engine.turn.live_settings import boolean, declare, integer, one_of, prompt

FAMILY = "MemoryStep"
SESSION_FAMILY = "Session"

HISTORY_MAX_TURNS = declare(
    "CONVERSATION_HISTORY",
    "MAX_TURNS",
    integer(0, 200),
    20,
    "Number of earlier turns that are loaded for prompts.",
    label="Maximum turns in prompts",
)
ENABLED = declare(
    FAMILY, "ENABLED", boolean(), True, "Keep a running summary of each conversation.", label="Keep a running summary"
)
SUMMARY_MAX_CHARS = declare(
    FAMILY,
    "SUMMARY_MAX_CHARS",
    integer(100, 20_000),
    1200,
    "Maximum length of the summary.",
    label="Maximum length of the summary",
)
RECENT_TURNS_FOR_SUMMARY = declare(
    FAMILY,
    "RECENT_TURNS_FOR_SUMMARY",
    integer(0, 50),
    3,
    "How many of the newest turns the summary tells; with mode LLM the model writes only when there are more.",
    label="Turns in the summary",
)
SUMMARY_MODE = declare(
    FAMILY,
    "SUMMARY_MODE",
    one_of("TEMPLATE", "LLM"),
    "TEMPLATE",
    "TEMPLATE: the summary is built from what the engine knows. LLM: the model writes it.",
    label="Summary written by",
)
LLM_EVERY_TURNS = declare(
    FAMILY,
    "LLM_EVERY_TURNS",
    integer(1, 100),
    5,
    "With mode LLM the model writes at most once in this many turns.",
    label="Turns between summaries by the model",
)
SYSTEM_PROMPT = declare(
    FAMILY,
    "SYSTEM_PROMPT",
    prompt(),
    "You keep the memory of a conversation as one short paragraph. Keep what was decided, asked for and found, with "
    "names and numbers exactly; leave out small talk. Write the paragraph only.",
    "Instruction to the model for writing the summary.",
)
USER_PROMPT = declare(
    FAMILY,
    "USER_PROMPT",
    prompt(),
    "Summary so far:\n{{ memory_session_summary }}\n\nNewer turns, oldest first:\n{{ conversation_history }}",
    "What the model is shown for writing the summary.",
)
SUMMARY_WITH_LLM = declare(
    SESSION_FAMILY,
    "SUMMARY_WITH_LLM",
    boolean(),
    False,
    "Let a model write the context summary, after the answer; otherwise it is built from what the engine knows.",
    label="Context summary written by a model",
)
UNITS_PROMPT = declare(
    SESSION_FAMILY,
    "UNITS_PROMPT",
    prompt(),
    "",
    "The prompt for a model that notes, after each turn, what later turns need. If empty, no model is called.",
    label="Prompt for notes on each turn",
)
