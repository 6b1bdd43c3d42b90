"""The desk with answers that a model writes: "fees" in words, "hours" as a document."""

from config_admin.models import CePromptTemplate, CeResponse
from config_admin.releases.change_set import change_set
from tests.live.configuration import configure
from tests.worlds import create_help_desk

SCHEMA = {
    "type": "object",
    "properties": {"opens": {"type": "integer"}},
    "required": ["opens"],
    "additionalProperties": False,
}


def written_desk(**response: object) -> None:
    """Rows for two DERIVED answers; `response` are more columns of both."""
    create_help_desk()
    # The model is asked for answers only.
    configure("DialogueActStep/RESOLUTE", "REGEX_ONLY")
    with change_set(reason="a model writes"):
        CeResponse.objects.filter(state_code="IDLE").delete()
        for intent, form, schema in (("FEES", "TEXT", None), ("HOURS", "JSON", SCHEMA)):
            CePromptTemplate.objects.create(
                intent_code=intent,
                state_code="IDLE",
                response_type=form,
                system_prompt="You are a help desk.",
                user_prompt="{{user_input}}",
            )
            CeResponse.objects.create(
                intent_code=intent,
                state_code="IDLE",
                response_type="DERIVED",
                output_format=form,
                json_schema=schema,
                **response,
            )
