"""Settings of the answer."""

from convengine.engine.turn.live_settings import boolean, declare, integer, one_of, prompt, text

FAMILY = "ResponseResolutionStep"


HISTORY_TURNS = declare(
    FAMILY,
    "HISTORY_TURNS",
    integer(0, 200),
    10,
    "Number of earlier turns in the prompt of an answer.",
    label="Turns in the prompt",
)
ON_MISSING = declare(
    FAMILY,
    "ON_MISSING",
    one_of("ERROR", "FALLBACK"),
    "ERROR",
    "If no answer applies: fail the turn with RESPONSE_MAPPING_NOT_FOUND, or use FALLBACK_TEXT.",
    label="If no answer applies",
)
FALLBACK_TEXT = declare(
    FAMILY,
    "FALLBACK_TEXT",
    text(),
    "I am sorry, I have no answer to that right now.",
    "The answer if none applies and ON_MISSING is FALLBACK, or if a text cannot be rendered.",
    label="Fallback answer",
)
DOCUMENTS_TEXT = declare(
    FAMILY,
    "DOCUMENTS_TEXT",
    text(),
    "I found this:",
    "What the bot says before it shows what documents say to a message.",
    label="Text before what documents say",
)
DOCUMENTS_ENABLE_LLM = declare(
    FAMILY,
    "DOCUMENTS_ENABLE_LLM",
    boolean(),
    False,
    "Let a model answer in short from the sections that are shown. An answer with words of its own, besides small "
    "ones, is not used.",
    label="Short answer from documents by a model",
)
DOCUMENTS_SYSTEM_PROMPT = declare(
    FAMILY,
    "DOCUMENTS_SYSTEM_PROMPT",
    prompt(),
    "You answer a question in one or two sentences, from the sections of documents that you are given and from nothing "
    "else. Use their words. If they do not answer the question, write only: NONE",
    "Instruction to the model for answering from documents. NONE means no answer.",
    label="System prompt for documents",
)
DOCUMENTS_USER_PROMPT = declare(
    FAMILY,
    "DOCUMENTS_USER_PROMPT",
    prompt(),
    "Sections:\n\n{{ sections }}\n\nQuestion: {{ user_input }}",
    "What the model is shown for answering from documents.",
    label="User prompt for documents",
)
MODEL_UNAVAILABLE_TEXT = declare(
    FAMILY,
    "MODEL_UNAVAILABLE_TEXT",
    text(),
    "I cannot answer that right now. Please try again in a moment, or say it in other words.",
    "The answer to a message that nothing else understood, while the model cannot be reached.",
    label="Answer while the model cannot be reached",
)
