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

AGENT_FAMILY = "AgentIntentResolver"
#: The part of a prompt that lists the intents; of each what it is for, once.
ALLOWED_INTENTS = (
    "Allowed intents:\n{% for intent in allowed_intents %}- {{ intent.code }}: {{ intent.name }}"
    "{% if intent.description and intent.description != intent.name %} | {{ intent.description }}{% endif %}"
    "{% if intent.llmHint %} | {{ intent.llmHint }}{% endif %}\n{% endfor %}"
)
SYSTEM_PROMPT = declare(
    AGENT_FAMILY,
    "SYSTEM_PROMPT",
    prompt(),
    "You decide which of the allowed intents a message belongs to. Reply with JSON only:\n"
    '{"intent": code, "confidence": 0 to 1, "needsClarification": true or false, "clarificationResolved": true or '
    'false, "clarificationQuestion": text, "intentScores": [{"intent": code, "confidence": 0 to 1}], '
    '"followups": [text]}\n'
    "Rules:\n"
    "- Use codes of the list only, and invent no facts.\n"
    "- Score every intent that is plausible, the best first. For a question, keep intents that only inform in the "
    "list.\n"
    "- When the best two are close, needsClarification is true, and followups holds one question that tells them "
    "apart.\n"
    "- When the message answers an open question, set clarificationResolved.",
    "System prompt for recognising the intent.",
)
USER_PROMPT = declare(
    AGENT_FAMILY,
    "USER_PROMPT",
    prompt(),
    f"{ALLOWED_INTENTS}\n"
    "{% if intent_collision_candidates %}Candidates so far: {{ intent_collision_candidates }}\n{% endif %}"
    "{% if pending_clarification %}Open question: {{ pending_clarification.question }}\n{% endif %}"
    "{% if known_facts %}Known facts: {{ known_facts }}\n{% endif %}\n"
    "{% if context_summary and older_turns %}Summary so far:\n{{ context_summary }}\n\n{% endif %}"
    "{% if conversation_history %}Conversation so far, oldest first:\n{{ conversation_history }}\n\n{% endif %}"
    "Message:\n{{ user_input }}"
    "{% if standalone_query and standalone_query != user_input %}\n\nIn full:\n{{ standalone_query }}{% endif %}",
    "User prompt for recognising the intent.",
)
#: What the model that names the dialogue act is asked besides, so that a message takes one call.
SCORING = (
    'Besides, score under "intentScores" each intent that the message may belong to, the best first: [{"intent": code, '
    '"confidence": 0 to 1}]. Use codes of the list only. The scores are empty for a message that only answers the last '
    f"question.\n{ALLOWED_INTENTS}"
)
