"""HandOverStep: while a person has the conversation, store the message and decide nothing."""

from convengine.engine.dialogue.hand_over import WITH_PERSON_TEXT, is_with_person
from convengine.engine.forms.asking import read_text_setting
from convengine.engine.pipeline.step import Outcome, Step, Stop
from convengine.engine.turn.payload import TextPayload, to_document
from convengine.engine.turn.session import FinalResult, Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.stages import ASSISTANT_OUTPUT, ENGINE_RETURN
from convengine.engine.turn.turn import Turn

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

#: The type of the answer.
WITH_PERSON = "WITH_PERSON"


class HandOverStep(Step):
    """Answer with the text of a setting, and stop the turn."""

    after = ("AuditUserInputStep",)
    before = ("PolicyEnforcementStep",)
    rank = 550
    requires_persisted = True
    writes = frozenset({"last_assistant", "payload"})

    def active(self, session: Session, turn: Turn) -> bool:
        """True while a person has the conversation. A reset gives it back to the bot."""
        return is_with_person(session, turn)

    def execute(self, session: Session, turn: Turn) -> Outcome:
        """Stop with the text. The webhook of the help desk has the message."""
        turn.audit(session, MESSAGE_PASSED_ON, **session.where)
        payload = TextPayload(read_text_setting(session, turn, WITH_PERSON_TEXT))
        session = session.evolve(payload=payload, last_assistant=to_document(payload))
        turn.audit(
            session,
            ASSISTANT_OUTPUT,
            output=payload.value,
            outputFormat="TEXT",
            responseType=WITH_PERSON,
            **session.where,
        )
        turn.audit(session, ENGINE_RETURN, **session.where, final_result=to_document(payload))
        return Stop(session, FinalResult(session.intent or "", session.state or "", payload, session.context))
