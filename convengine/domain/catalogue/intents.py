"""Settings of what a message is about: resolving, the agent, collisions, resets (settings 2.7, pipeline-1 14)."""

from convengine.domain.settings import boolean, decimal, declare, prompt, text_list

RESOLUTION_FAMILY = "IntentResolutionStep"
CLASSIFIER_FAMILY = "ClassifierIntentResolver"
AGENT_FAMILY = "AgentIntentResolver"
COLLISION_FAMILY = "AgentIntentCollisionResolver"
RESET_FAMILY = "ResetConversationStep"

STICKY_INTENT = declare(
    RESOLUTION_FAMILY,
    "STICKY_INTENT",
    boolean(),
    True,
    "While data is being collected, keep the intent and resolve none anew.",
)
SWITCH_PHRASES = declare(
    RESOLUTION_FAMILY,
    "SWITCH_PHRASES",
    text_list(),
    ("^switch to ", "switch intent", "change intent", "change flow", "change mode"),
    "Phrases that make the engine resolve the intent anew, also in the middle of a form. A leading ^ means that the "
    "message must begin with the phrase.",
)
FORCE_PARAM_KEYS = declare(
    RESOLUTION_FAMILY,
    "FORCE_PARAM_KEYS",
    text_list(),
    ("force_intent_resolution", "resolve_intent", "switch_intent", "switch_flow", "switch_mode"),
    "Input params of a request that, when true, make the engine resolve the intent anew.",
)

USE_STANDALONE_QUERY = declare(
    CLASSIFIER_FAMILY,
    "USE_STANDALONE_QUERY",
    boolean(),
    False,
    "When the message itself hits no classifier row, try its restated form as well.",
)
COLLISION_BY_PRIORITY = declare(
    CLASSIFIER_FAMILY,
    "COLLISION_BY_PRIORITY",
    boolean(),
    False,
    "When rows of several intents hit, let a strictly lower priority number decide.",
)
OVERRIDE_STATE_ON_SAME_INTENT = declare(
    CLASSIFIER_FAMILY,
    "OVERRIDE_STATE_ON_SAME_INTENT",
    boolean(),
    False,
    "Take the row's state although the intent stays the same.",
)
SEMANTIC_MIN_SCORE = declare(
    CLASSIFIER_FAMILY,
    "SEMANTIC_MIN_SCORE",
    decimal(),
    0.5,
    "From this likeness on (1 = the same) a text means what an example of a SEMANTIC row means.",
)
SEMANTIC_GAP_THRESHOLD = declare(
    CLASSIFIER_FAMILY,
    "SEMANTIC_GAP_THRESHOLD",
    decimal(),
    0.1,
    "SEMANTIC rows of another intent count as well when their likeness is at most this far below the best.",
)

MIN_CONFIDENCE = declare(
    AGENT_FAMILY, "MIN_CONFIDENCE", decimal(), 0.55, "The model's intent is rejected below this confidence."
)
COLLISION_GAP_THRESHOLD = declare(
    AGENT_FAMILY,
    "COLLISION_GAP_THRESHOLD",
    decimal(),
    0.1,
    "The two best intents collide, and the user is asked, when their scores are at most this far apart.",
)
COLLISION_MIN_CONFIDENCE = declare(
    AGENT_FAMILY,
    "COLLISION_MIN_CONFIDENCE",
    decimal(),
    0.3,
    "No collision when even the best score is below this.",
)
FAIL_TURN_ON_LLM_ERROR = declare(
    AGENT_FAMILY,
    "FAIL_TURN_ON_LLM_ERROR",
    boolean(),
    False,
    "Fail the turn when the model cannot be asked; otherwise it goes on with the intent it had.",
)
RESET_STATE_ON_SAME_INTENT = declare(
    AGENT_FAMILY,
    "RESET_STATE_ON_SAME_INTENT",
    boolean(),
    False,
    "Take the model's state although the intent stays the same.",
)
SYSTEM_PROMPT = declare(
    AGENT_FAMILY,
    "SYSTEM_PROMPT",
    prompt(),
    "You decide which of the allowed intents a message belongs to. Reply with JSON only:\n"
    '{"intent": code, "state": "IDLE" or "INTENT_COLLISION", "confidence": 0 to 1, "needsClarification": true or '
    'false, "clarificationResolved": true or false, "clarificationQuestion": text, "intentScores": [{"intent": code, '
    '"confidence": 0 to 1}], "followups": [text]}\n'
    "Rules:\n"
    "- Use codes of the list only, and invent no facts.\n"
    "- Score every intent that is plausible, the best first. For a question, keep intents that only inform in the "
    "list.\n"
    "- When the best two are close, the state is INTENT_COLLISION, needsClarification is true, and followups holds one "
    "question that tells them apart. Otherwise the state is IDLE.\n"
    "- When the message answers an open question, set clarificationResolved.",
    "Instruction to the model for finding the intent.",
)
USER_PROMPT = declare(
    AGENT_FAMILY,
    "USER_PROMPT",
    prompt(),
    "Allowed intents:\n{{ allowed_intents }}\n\nCandidates so far: {{ intent_collision_candidates }}\n"
    "Scores so far: {{ intent_scores }}\nOpen question: {{ pending_clarification }}\nKnown facts: {{ context }}\n\n"
    "Message:\n{{ user_input }}{% if standalone_query %}\n\nIn full:\n{{ standalone_query }}{% endif %}",
    "What the model is shown for finding the intent.",
)
COLLISION_SYSTEM_PROMPT = declare(
    COLLISION_FAMILY,
    "SYSTEM_PROMPT",
    prompt(),
    "A message may mean several things. You write one short, friendly question that lets the user choose between them, "
    "in plain words and without internal codes.",
    "Instruction to the model for the question after a collision of intents.",
)
COLLISION_USER_PROMPT = declare(
    COLLISION_FAMILY,
    "USER_PROMPT",
    prompt(),
    "Message:\n{{ user_input }}\n\nMost likely meanings: {{ intent_top3 }}\nSuggested questions: {{ followups }}",
    "What the model is shown for the question after a collision.",
)
COLLISION_DERIVATION_HINT = declare(
    COLLISION_FAMILY,
    "DERIVATION_HINT",
    prompt(),
    "One sentence that ends with a question mark.",
    "Appended to the prompts of that question.",
)

RESET_INTENT_CODES = declare(
    "ResetResolvedIntentStep",
    "RESET_INTENT_CODES",
    text_list(codes=True),
    ("RESET_SESSION",),
    "Intents that wipe the conversation as soon as they are resolved.",
)
TEXT_COMMANDS = declare(
    RESET_FAMILY,
    "TEXT_COMMANDS",
    text_list(),
    ("reset", "restart", "/reset", "/restart"),
    "Messages that, as a whole and in any case, wipe the conversation.",
)
RESET_ALLOW_PUNCTUATION = declare(
    RESET_FAMILY,
    "RESET_ALLOW_PUNCTUATION",
    boolean(),
    False,
    "Let such a message end with punctuation, as in “reset.”",
)
