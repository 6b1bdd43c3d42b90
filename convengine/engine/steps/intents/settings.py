"""Settings of finding the intent."""

from convengine.engine.clarification.agent_answer import AGENT_FAMILY
from convengine.engine.turn.enums import ClassifierType
from convengine.engine.turn.live_settings import UnreadableSetting, ValueKind, boolean, decimal, declare, text_list

RESOLUTION_FAMILY = "IntentResolutionStep"
CLASSIFIER_FAMILY = "ClassifierIntentResolver"

STICKY_INTENT = declare(
    RESOLUTION_FAMILY,
    "STICKY_INTENT",
    boolean(),
    True,
    "Keep the intent while a form is being filled in.",
    label="Keep the intent during a form",
)
SWITCH_PHRASES = declare(
    RESOLUTION_FAMILY,
    "SWITCH_PHRASES",
    text_list(),
    ("^switch to ", "switch intent", "change intent", "change flow", "change mode"),
    (
        "Phrases that start a new intent recognition, even in the middle of a form. A leading ^ means that the "
        "message must start with the phrase."
    ),
    label="Phrases that change the intent",
)
FORCE_PARAM_KEYS = declare(
    RESOLUTION_FAMILY,
    "FORCE_PARAM_KEYS",
    text_list(),
    ("force_intent_resolution", "resolve_intent", "switch_intent", "switch_flow", "switch_mode"),
    "Parameters of a request that start a new intent recognition if they are true.",
    label="Parameters that change the intent",
)

DEFAULT_ORDER = ("EXACT+STARTS_WITH+REGEX+CONTAINS", "PHRASE")


def _match_types() -> ValueKind[tuple[str, ...]]:
    """Match types in groups; every type once at most."""
    entries = text_list(codes=True)

    def read(text: str) -> tuple[str, ...]:
        groups = tuple("+".join(word.strip() for word in group.split("+")) for group in entries.read(text))
        words = [word for group in groups for word in group.split("+")]
        if any(ClassifierType.read(word) is None for word in words) or len({*words}) < len(words):
            raise UnreadableSetting(f"must name each match type at most once, for example {', '.join(DEFAULT_ORDER)}.")
        return groups

    return ValueKind("list", read)


ORDER = declare(
    "Classifier",
    "ORDER",
    _match_types(),
    DEFAULT_ORDER,
    (
        "The order in which phrases are tried, by match type. Types joined by + are tried together; the first that "
        "match decide. Types that are left out come last."
    ),
)
USE_STANDALONE_QUERY = declare(
    CLASSIFIER_FAMILY,
    "USE_STANDALONE_QUERY",
    boolean(),
    False,
    "If no phrase matches the message, also try the rewritten message.",
    label="Also try the rewritten message",
)
COLLISION_BY_PRIORITY = declare(
    CLASSIFIER_FAMILY,
    "COLLISION_BY_PRIORITY",
    boolean(),
    False,
    "If phrases of several intents match, the lowest priority number decides.",
    label="Priority decides between intents",
)
OVERRIDE_STATE_ON_SAME_INTENT = declare(
    CLASSIFIER_FAMILY,
    "OVERRIDE_STATE_ON_SAME_INTENT",
    boolean(),
    False,
    "Use the state of the phrase even if the intent stays the same.",
    label="Set the state even for the same intent",
)
MIN_CONFIDENCE = declare(
    AGENT_FAMILY,
    "MIN_CONFIDENCE",
    decimal(),
    0.55,
    "The model's intent is rejected below this confidence.",
    label="Minimum confidence",
)
COLLISION_GAP_THRESHOLD = declare(
    AGENT_FAMILY,
    "COLLISION_GAP_THRESHOLD",
    decimal(),
    0.1,
    "The user is asked if the scores of the two best intents differ by at most this value.",
    label="Ask the user below this gap",
)
COLLISION_MIN_CONFIDENCE = declare(
    AGENT_FAMILY,
    "COLLISION_MIN_CONFIDENCE",
    decimal(),
    0.3,
    "No question if the best score is below this value.",
    label="Minimum confidence for a question",
)
FAIL_TURN_ON_LLM_ERROR = declare(
    AGENT_FAMILY,
    "FAIL_TURN_ON_LLM_ERROR",
    boolean(),
    False,
    "Fail the turn if the model is not available. If off, the turn continues with the previous intent.",
    label="Fail the turn without a model",
)
RESET_STATE_ON_SAME_INTENT = declare(
    AGENT_FAMILY,
    "RESET_STATE_ON_SAME_INTENT",
    boolean(),
    False,
    "An intent that the model recognises again begins again, instead of going on in its state.",
    label="Set the state even for the same intent",
)
RESET_INTENT_CODES = declare(
    "ResetResolvedIntentStep",
    "RESET_INTENT_CODES",
    text_list(codes=True),
    ("RESET_SESSION",),
    "Intents that reset the conversation as soon as they are recognised.",
    label="Intents that reset",
)
