"""Names of facts in words, for paths and for conditions."""

from collections.abc import Mapping

from convengine.engine.turn.enums import DialogueAct

#: Facts with a name of their own; others keep their key.
NOUNS: Mapping[str, str] = {
    "userText": "the message",
    "resolvedUserInput": "the message (as rewritten)",
    "standaloneQuery": "the rewritten message",
    "intent": "the intent",
    "state": "the state",
    "turnNo": "the turn number",
    "lifecycle": "the lifecycle",
    "missingRequiredFields": "the list of missing fields",
    "pendingClarificationQuestion": "the clarifying question",
    "containerData": "the fetched data",
    "inputParams.dialogue_act": "the dialogue act",
}
#: Boolean facts: the words for true, and for false.
CLAIMS: Mapping[str, tuple[str, str]] = {
    "schemaComplete": ("the form is complete", "the form is not complete"),
    "hasAnySchemaValue": ("some fields are filled in", "no field is filled in"),
    "hasContainerData": ("fetched data is available", "no fetched data is available"),
    "intentLocked": ("the intent is locked", "the intent is not locked"),
}


def act_words(act: str) -> str | None:
    """The user's act in words, such as "the user says yes"; null for no act."""
    found = DialogueAct.read(act)
    return f"the user {found.help[:1].lower()}{found.help[1:].rstrip('.')}" if found else None
