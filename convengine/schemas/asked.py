"""Asking a model to read a message into the form (pipeline-2 5.2)."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from convengine.domain.catalogue.data import ON_LLM_ERROR
from convengine.domain.enums import PromptUse
from convengine.domain.rows import OutputSchema, PromptTemplate
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.llm.ask import Question, Reply, Stages, ask
from convengine.prompts.fill import filled
from convengine.prompts.select import decide_template
from convengine.schemas.facts import with_facts
from convengine.schemas.form import Form
from convengine.schemas.sanitise import Sanitised, sanitised

Json = Any
PURPOSE = "SCHEMA_EXTRACTION"
#: What a schema says of values that are not there: a model that must give them makes them up.
_DEMANDS = ("required", "minItems", "minProperties")


class Read(NamedTuple):
    """What a model made of a message, and the session that asked it."""

    session: Session
    found: Sanitised


def read_by_model(session: Session, turn: Turn, row: OutputSchema, form: Form, settled: Collection[str] = ()) -> Read:
    """Ask with the scope's SCHEMA_JSON template, and keep what fits the form. `settled` fields stay as they are.

    Raises PromptContextMissing, what a prompt raises, and the model's fault unless ON_LLM_ERROR is CONTINUE.
    """
    session = with_facts(session, row, form.status(session.context))
    template = decide_template(session, turn, PromptUse.SCHEMA_JSON)
    reply = ask(session, turn, _question(session, turn, template, form))
    if reply.error and reply.error.code != "LLM_INVALID_RESPONSE":
        if turn.config(session, ON_LLM_ERROR) == "FAIL":
            raise reply.error.error(schemaId=row.schema_id, templateId=template.template_id)
        return Read(session, Sanitised())
    found = sanitised(form, reply.value, settled)
    _tell(session, turn, reply, found)
    return Read(session.evolve(last_llm_output=reply.value, last_llm_stage=PURPOSE), found)


def _question(session: Session, turn: Turn, template: PromptTemplate, form: Form) -> Question:
    prompts = filled(
        session,
        turn,
        system=template.system_prompt,
        user=template.user_prompt,
        selected={"templateId": template.template_id},
    )
    schema = optional(form.schema)
    return Question(
        PURPOSE,
        prompts.system,
        prompts.user,
        context=session.context,
        json_schema=schema,
        temperature=template.temperature,
        template_id=template.template_id,
        stages=Stages(input=Stage.SCHEMA_EXTRACTION_LLM_INPUT, error=Stage.SCHEMA_EXTRACTION_LLM_ERROR),
        told={
            "system_prompt": prompts.system,
            "user_prompt": prompts.user,
            "schema": schema,
            "userInput": session.user_text,
        },
    )


def optional(schema: Json) -> Json:
    """The schema with nothing required: a message rarely holds everything."""
    if isinstance(schema, Mapping):
        return {
            key: optional(value)
            for key, value in schema.items()
            # A property may be called so; the keyword's value is no schema.
            if key not in _DEMANDS or isinstance(value, Mapping)
        }
    return [optional(entry) for entry in schema] if isinstance(schema, (list, tuple)) else schema


def _tell(session: Session, turn: Turn, reply: Reply, found: Sanitised) -> None:
    """The answer as it came, with the names that were left out of it and why."""
    if not blank(reply.text):
        turn.audit(
            session,
            Stage.SCHEMA_EXTRACTION_LLM_OUTPUT,
            json=reply.text if reply.value is None else reply.value,
            rejected=list(found.rejected),
            rejectedReasons=found.rejected,
        )
