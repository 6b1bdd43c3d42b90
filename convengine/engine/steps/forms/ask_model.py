"""Ask a model to read a message into the form (pipeline-2 5.2)."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from convengine.engine.forms.facts import set_form_facts
from convengine.engine.forms.form import Form
from convengine.engine.llm.ask import Question, Reply, Stages, ask
from convengine.engine.prompts.fill import fill_prompts
from convengine.engine.prompts.select import decide_template
from convengine.engine.steps.forms.sanitise import SanitisedValues, sanitise_values
from convengine.engine.steps.forms.settings import ON_LLM_ERROR
from convengine.engine.steps.forms.stages import (
    SCHEMA_EXTRACTION_LLM_ERROR,
    SCHEMA_EXTRACTION_LLM_INPUT,
    SCHEMA_EXTRACTION_LLM_OUTPUT,
)
from convengine.engine.text.compare import blank
from convengine.engine.turn.enums import PromptUse
from convengine.engine.turn.rows import OutputSchema, PromptTemplate
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

Json = Any
PURPOSE = "SCHEMA_EXTRACTION"
#: Schema keywords about missing values, which would make a model invent them.
_DEMANDS = ("required", "minItems", "minProperties")


class ModelReading(NamedTuple):
    """The model's reading of a message, and the session."""

    session: Session
    found: SanitisedValues


def read_by_model(
    session: Session, turn: Turn, row: OutputSchema, form: Form, settled: Collection[str] = ()
) -> ModelReading:
    """Ask with the scope's SCHEMA_JSON template and keep what fits the form. `settled` fields stay unchanged.

    Raises PromptContextMissing, errors of the prompt, and the model's fault unless ON_LLM_ERROR is CONTINUE.
    """
    session = set_form_facts(session, row, form.status(session.context))
    template = decide_template(session, turn, PromptUse.SCHEMA_JSON)
    reply = ask(session, turn, _build_question(session, turn, template, form))
    if reply.error and reply.error.code != "LLM_INVALID_RESPONSE":
        if turn.config(session, ON_LLM_ERROR) == "FAIL":
            raise reply.error.error(schemaId=row.schema_id, templateId=template.template_id)
        return ModelReading(session, SanitisedValues())
    found = sanitise_values(form, reply.value, settled)
    _audit_reading(session, turn, reply, found)
    return ModelReading(session.evolve(last_llm_output=reply.value, last_llm_stage=PURPOSE), found)


def _build_question(session: Session, turn: Turn, template: PromptTemplate, form: Form) -> Question:
    prompts = fill_prompts(
        session,
        turn,
        system=template.system_prompt,
        user=template.user_prompt,
        selected={"templateId": template.template_id},
    )
    schema = make_optional(form.schema)
    return Question(
        PURPOSE,
        prompts.system,
        prompts.user,
        context=session.context,
        json_schema=schema,
        temperature=template.temperature,
        template_id=template.template_id,
        stages=Stages(input=SCHEMA_EXTRACTION_LLM_INPUT, error=SCHEMA_EXTRACTION_LLM_ERROR),
        told={
            "system_prompt": prompts.system,
            "user_prompt": prompts.user,
            "schema": schema,
            "userInput": session.user_text,
        },
    )


def make_optional(schema: Json) -> Json:
    """The schema without required values, because a message rarely has all of them."""
    if isinstance(schema, Mapping):
        return {
            key: make_optional(value)
            for key, value in schema.items()
            # A property may have this name; then its value is a schema, not the keyword's value.
            if key not in _DEMANDS or isinstance(value, Mapping)
        }
    return [make_optional(entry) for entry in schema] if isinstance(schema, (list, tuple)) else schema


def _audit_reading(session: Session, turn: Turn, reply: Reply, found: SanitisedValues) -> None:
    """Record the raw answer, with the omitted names and the reasons."""
    if not blank(reply.text):
        turn.audit(
            session,
            SCHEMA_EXTRACTION_LLM_OUTPUT,
            json=reply.text if reply.value is None else reply.value,
            rejected=list(found.rejected),
            rejectedReasons=found.rejected,
        )
