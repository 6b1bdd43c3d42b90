"""Stages of conversations that a person has."""

from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage

MESSAGE_PASSED_ON = declare_stage(
    "MESSAGE_PASSED_ON",
    Family.SESSION,
    "A person has the conversation, so the bot stored the message and decided nothing.",
    steps="HandOverStep",
    keys="intent state",
    always_recorded=True,
    sentences=(SentenceTemplate("A person has the conversation: the bot stored the message and decided nothing."),),
)
PERSON_ANSWERED = declare_stage(
    "PERSON_ANSWERED",
    Family.SESSION,
    "A person of the help desk wrote to the user. From then on, a person has the conversation.",
    steps="",
    keys="author",
    always_recorded=True,
    sentences=(SentenceTemplate("A person wrote to the user[: {author}]."),),
)
HANDED_BACK = declare_stage(
    "HANDED_BACK",
    Family.SESSION,
    "The help desk gave the conversation back to the bot.",
    steps="",
    keys="author fromIntent fromState",
    always_recorded=True,
    sentences=(SentenceTemplate("The help desk gave the conversation back to the bot[: {author}]."),),
)
