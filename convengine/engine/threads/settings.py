"""Settings of sessions: lifetime, texts, one turn at a time."""

from convengine.engine.turn.live_settings import boolean, decimal, declare, integer, one_of, template, text_list

FAMILY = "Session"
_CHANNEL = "channel"

TIMEOUT_MINUTES = declare(
    FAMILY,
    "TIMEOUT_MINUTES",
    integer(1, 100_000),
    30,
    "After this many idle minutes, the next message starts a new session (if RESUME_MODE is new_session).",
    qualifier=_CHANNEL,
    label="New session after idle minutes",
)
IDLE_TIMEOUT_HOURS = declare(
    FAMILY,
    "IDLE_TIMEOUT_HOURS",
    integer(1),
    24,
    "After this many idle hours, the user is asked whether to resume (if RESUME_MODE is offer_resume).",
    label="Offer to resume after idle hours",
)
STALE_TIMEOUT_DAYS = declare(
    FAMILY,
    "STALE_TIMEOUT_DAYS",
    integer(1),
    7,
    ("After this many idle days, a message always starts a new session."),
    label="Always a new session after idle days",
)
RESUME_MODE = declare(
    FAMILY,
    "RESUME_MODE",
    one_of("new_session", "offer_resume"),
    "new_session",
    "What happens when a user returns late: a new session, or an offer to resume.",
    qualifier=_CHANNEL,
    label="If the user returns late",
)
RESET_PHRASES = declare(
    FAMILY,
    "RESET_PHRASES",
    text_list(),
    (
        "new task",
        "start over",
        "reset",
        "forget that",
        "new project",
        "clear history",
        "start fresh",
        "new conversation",
        "/reset",
        "/restart",
        "restart",
    ),
    "Messages that, as a whole, open a new session.",
    label="Phrases that start a new session",
)
FRESH_START_TEXT = declare(
    FAMILY,
    "FRESH_START_TEXT",
    template(),
    "Starting fresh. How can I help you?",
    "The answer to a reset when no response row for UNKNOWN / UNKNOWN gives one.",
    label="Text after a reset",
)
STALE_TEXT = declare(
    FAMILY,
    "STALE_TEXT",
    template(),
    "",
    "Said before the first answer of a session that replaced a stale one; blank: nothing.",
    label="Text after a very long pause",
)
RESUME_TEXT_AWAITING_USER = declare(
    FAMILY,
    "RESUME_TEXT_AWAITING_USER",
    template(),
    "Welcome back. We are not done yet. {{ question }}",
    "Shown on return while a question is open.",
    label="Resume text with an open question",
)
RESUME_TEXT_PENDING_COMPLETE = declare(
    FAMILY,
    "RESUME_TEXT_PENDING_COMPLETE",
    template(),
    "Welcome back. This is where we stand: {{ summary }} Does it look good?",
    "Shown on return while the result waits for the user's word.",
    label="Resume text before the end is confirmed",
)
RESUME_TEXT_RUNNING = declare(
    FAMILY,
    "RESUME_TEXT_RUNNING",
    template(),
    "Welcome back. So far: {{ context_summary }} Shall we continue, or start fresh?",
    "Shown on return to unfinished work.",
    label="Resume text for unfinished work",
)
CLOSING_PHRASES = declare(
    FAMILY,
    "CLOSING_PHRASES",
    text_list(),
    ("looks good", "done", "perfect", "perfect thanks", "thanks", "thank you", "that is all", "that's all", "all good"),
    "Messages that, as a whole, accept a proposed end.",
    label="Phrases that accept the end",
)
ABANDON_PHRASES = declare(
    FAMILY,
    "ABANDON_PHRASES",
    text_list(),
    ("never mind", "nevermind", "stop", "forget it"),
    "Messages that mean, as a whole, that the user gives up.",
    label="Phrases that give up",
)
CLOSING_TEXT = declare(
    FAMILY,
    "CLOSING_TEXT",
    template(),
    "Great, all done. Come back any time.",
    "The answer when the user accepts the end.",
    label="Text when the end is accepted",
)
ABANDON_TEXT = declare(
    FAMILY,
    "ABANDON_TEXT",
    template(),
    "All right, I have dropped it. Tell me when you need something.",
    "The answer when the user gives up.",
    label="Text when the user gives up",
)
UNCLEAR_TEXT = declare(
    FAMILY,
    "UNCLEAR_TEXT",
    template(),
    "Would you like to go on with this, or start something new?",
    "The question when it is unclear whether a finished task goes on.",
    label="Question whether to continue",
)
CLASSIFY_WITH_LLM = declare(
    FAMILY,
    "CLASSIFY_WITH_LLM",
    boolean(),
    False,
    "Let a model decide the messages that stay unclear.",
    label="Let a model classify unclear messages",
)
ENABLE_DRIFT_CLASSIFIER = declare(
    FAMILY,
    "ENABLE_DRIFT_CLASSIFIER",
    boolean(),
    False,
    "Let a model notice that a message is about something else, and open a new session then.",
    label="Let a model notice a change of topic",
)
DRIFT_MIN_CONFIDENCE = declare(
    FAMILY,
    "DRIFT_MIN_CONFIDENCE",
    decimal(),
    0.80,
    "A change of topic counts from this confidence on.",
    label="Minimum confidence for a change of topic",
)
ON_CONCURRENT_TURN = declare(
    FAMILY,
    "ON_CONCURRENT_TURN",
    one_of("wait", "reject", "interrupt"),
    "wait",
    "What happens to a message while an earlier one is still being answered.",
    qualifier="workspace",
    label="If a message arrives during a turn",
)
LEASE_WAIT_SECONDS = declare(
    FAMILY,
    "LEASE_WAIT_SECONDS",
    integer(0, 60),
    10,
    "How long such a message waits before it is rejected.",
    label="Longest wait for a running turn (seconds)",
)
LEASE_SECONDS = declare(
    FAMILY,
    "LEASE_SECONDS",
    integer(5, 3600),
    15,
    "How long a turn holds its conversation without renewing; a killed process blocks it for this long.",
    mark="LR",
    label="Lease of a conversation (seconds)",
)
EXPLAINABILITY_TURNS = declare(
    FAMILY,
    "EXPLAINABILITY_TURNS",
    integer(0, 1000),
    50,
    "For how many turns the trace is kept with the session.",
    label="Turns with a trace",
)
ALLOW_CLIENT_CONVERSATION_IDS = declare(
    FAMILY,
    "ALLOW_CLIENT_CONVERSATION_IDS",
    boolean(),
    True,
    "Off: a conversation id that the engine did not make is refused.",
    mark="LR",
    label="Clients may choose conversation ids",
)


RESET_FAMILY = "ResetConversationStep"


TEXT_COMMANDS = declare(
    RESET_FAMILY,
    "TEXT_COMMANDS",
    text_list(),
    ("reset", "restart", "/reset", "/restart"),
    "Messages that, as a whole, reset the conversation.",
    label="Messages that reset",
)
