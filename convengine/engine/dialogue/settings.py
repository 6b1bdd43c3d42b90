"""Settings of the dialogue act."""

from typing import Any

from convengine.engine.turn.enums import DialogueAct
from convengine.engine.turn.live_settings import boolean, decimal, declare, integer, json_value, one_of, prompt, regex

FAMILY = "DialogueActStep"

_YES = (
    "yes|yep|yeah|yup|ok|okay|sure|correct|agreed|confirm|confirmed|approve|approved|absolutely|of course|proceed"
    "|go ahead|go for it|do it|do that|please do|please do it|sounds good|looks good|that's right|that is right"
    "|that's correct|that is correct"
)
_STOP_IT = "cancel(?: (?:it|that))?|stop(?: (?:it|that))?"
_NO = f"no|nope|nah|never ?mind|not now|{_STOP_IT}|(?:don't|do not)(?: (?:do|proceed|continue)(?: (?:it|that))?)?"
_THANKS = "please|thanks|thank you"


def _answer_schema(**more: Any) -> dict[str, Any]:
    properties = {
        "dialogueAct": {"type": "string", "enum": [act.value for act in DialogueAct]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        **more,
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_ACTS = "\n".join(f"- {act.value}: {act.help}" for act in DialogueAct)

RESOLUTE = declare(
    FAMILY,
    "RESOLUTE",
    one_of("AUTO", "REGEX_ONLY", "REGEX_THEN_LLM", "LLM_ONLY"),
    "AUTO",
    (
        "How the dialogue act is recognised: by patterns, by patterns and then the model if they are not sure, or "
        "only by the model. AUTO asks the model only about messages that the tables and phrases do not explain. "
        "Without a model, patterns are used."
    ),
    label="Recognition by patterns or model",
)
LLM_THRESHOLD = declare(
    FAMILY,
    "LLM_THRESHOLD",
    decimal(),
    0.90,
    "With REGEX_THEN_LLM, the model is asked if the confidence of the pattern is below this value.",
    label="Ask the model below this confidence",
)
QUERY_REWRITE_ENABLED = declare(
    FAMILY,
    "QUERY_REWRITE_ENABLED",
    boolean(),
    True,
    "If there is history, the model also rewrites the message as one complete query.",
    label="Rewrite messages",
)
REGEX_AFFIRM = declare(
    FAMILY,
    "REGEX_AFFIRM",
    regex(),
    f"(?:{_YES})(?:[ ,]+(?:{_YES}|{_THANKS})){{0,3}}",
    "A message that matches this pattern completely means yes. Keep it narrow, because a yes can run an action.",
    label="Pattern for yes",
)
REGEX_NEGATE = declare(
    FAMILY,
    "REGEX_NEGATE",
    regex(),
    f"(?:{_NO})(?:[ ,]+(?:no|{_THANKS}|{_STOP_IT}|don't|do not|leave it)){{0,2}}",
    "A message that matches this pattern completely means no.",
    label="Pattern for no",
)
REGEX_EDIT = declare(
    FAMILY,
    "REGEX_EDIT",
    regex(),
    "(?:please )?(?:edit|revise|change|modify|update|amend)"
    "(?: (?:it|this|that|something|(?:the |my )?(?:details|answer|answers|request)))?(?: please)?",
    "A message that matches this pattern completely means that the user wants to change earlier input.",
    label="Pattern for changes",
)
REGEX_RESET = declare(
    FAMILY,
    "REGEX_RESET",
    regex(),
    "(?:please )?(?:/?reset|/?restart|start over|start again|start from scratch)(?: please)?",
    (
        "A message that matches this pattern completely means starting over. The RESET of a model only counts if this"
        " pattern matches, too."
    ),
    label="Pattern for starting over",
)
REGEX_GREETING = declare(
    FAMILY,
    "REGEX_GREETING",
    regex(),
    "(?:hi|hello|hey|howdy|greetings|good (?:morning|afternoon|evening|day))(?: (?:there|all|everyone|team))?",
    "A message that matches this pattern completely is a greeting.",
    label="Pattern for greetings",
)
REGEX_RETRY = declare(
    "CorrectionStep",
    "REGEX_RETRY",
    regex(),
    "(?:retry|try again|please retry|retry please|again|once more|try once more)[.!? ]*",
    (
        "A message that matches this pattern completely repeats the last step, if the prompt template of the state "
        "allows a retry."
    ),
    label="Pattern for trying again",
)
RESET_ACT_RESETS = declare(
    FAMILY,
    "RESET_ACT_RESETS",
    boolean(),
    True,
    "A message that the RESET pattern recognises wipes the conversation. Off: it is only a signal for rules.",
    label="Starting over resets the conversation",
)
LLM_MIN_CONFIDENCE = declare(
    FAMILY,
    "LLM_MIN_CONFIDENCE",
    decimal(),
    0.0,
    "A model's act with a lower confidence is not used.",
    label="Minimum confidence of the model",
)
ANSWER_MAX_CHARS = declare(
    FAMILY,
    "ANSWER_MAX_CHARS",
    integer(1, 2000),
    80,
    "While a question is open or a form is being filled, a message of at most this length counts as an answer.",
    label="Maximum length of an answer",
)
SYSTEM_PROMPT = declare(
    FAMILY,
    "SYSTEM_PROMPT",
    prompt(),
    f"You classify what a user does with a message, apart from what it is about.\nThe acts:\n{_ACTS}\n"
    'Choose exactly one. Reply with JSON only, of the form {"dialogueAct": …, "confidence": …}; the confidence is a '
    "number from 0 to 1.",
    "Instruction to the model for finding the act. It must ask for dialogueAct and confidence as JSON.",
)
USER_PROMPT = declare(
    FAMILY,
    "USER_PROMPT",
    prompt(),
    "Message:\n{{ user_input }}",
    "User prompt for classifying the message.",
)
SCHEMA_PROMPT = declare(
    FAMILY,
    "SCHEMA_PROMPT",
    json_value(),
    _answer_schema(),
    "The JSON Schema of the model's answer.",
    label="Schema of the model's answer",
)
QUERY_REWRITE_SYSTEM_PROMPT = declare(
    FAMILY,
    "QUERY_REWRITE_SYSTEM_PROMPT",
    prompt(),
    "You do two things with a user's latest message.\n1. Classify what the user does with it, apart from what it is "
    f"about. The acts:\n{_ACTS}\n2. Restate it as one query that can be understood without the earlier turns. Use the "
    "conversation only to fill in what the message refers to; invent nothing, and keep names and numbers exactly.\n"
    'Reply with JSON only, of the form {"dialogueAct": …, "confidence": …, "standaloneQuery": …}.',
    "System prompt when the model also rewrites the message.",
    label="System prompt with rewriting",
)
QUERY_REWRITE_USER_PROMPT = declare(
    FAMILY,
    "QUERY_REWRITE_USER_PROMPT",
    prompt(),
    "Conversation so far, oldest first:\n{{ conversation_history }}\n\nLatest message:\n{{ user_input }}",
    "User prompt when the model also rewrites the message.",
    label="User prompt with rewriting",
)
QUERY_REWRITE_SCHEMA_PROMPT = declare(
    FAMILY,
    "QUERY_REWRITE_SCHEMA_PROMPT",
    json_value(),
    _answer_schema(standaloneQuery={"type": "string"}),
    "The JSON Schema of the model's answer when it also rewrites the message.",
    label="Schema of the model's answer with rewriting",
)
