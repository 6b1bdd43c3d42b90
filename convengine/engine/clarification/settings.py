"""Settings of the question after an intent collision."""

from convengine.engine.turn.live_settings import declare, prompt

COLLISION_FAMILY = "AgentIntentCollisionResolver"

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
    label="Hint for the question",
)
