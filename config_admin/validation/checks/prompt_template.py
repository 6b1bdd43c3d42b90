"""Save checks of `ce_prompt_template` (tables 3.2, pipeline-1 17.2)."""

from collections.abc import Iterator

from config_admin.validation import relations
from config_admin.validation.checks import common, programs
from config_admin.validation.checks.output_schema import confirm_state_no_schema
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.relations import UNREADABLE, as_json
from config_admin.validation.wording import did_you_mean
from convengine.domain import rows
from convengine.domain.enums import InteractionMode, PromptUse, ResponseType
from convengine.domain.scope import ANY
from convengine.domain.text import blank, code
from convengine.prompts.contract import ALLOWS, EXPECTS, capabilities, named, of_mode

Template = Draft[rows.PromptTemplate]


def _use(draft: Template) -> Iterator[Finding]:
    yield from common.choice(
        draft,
        "response_type",
        list(PromptUse),
        finding_code="RESPONSE_TYPE_PROMPT",
        message="Choose SCHEMA_JSON (extract fields), TEXT or JSON (write an answer). EXACT and DERIVED belong to the "
        "response row.",
    )
    if code(draft.row.response_type) == PromptUse.SCHEMA_JSON and code(draft.row.intent_code) == ANY:
        yield draft.error(
            "SCHEMA_PROMPT_INTENT_ANY",
            "intent_code",
            "Extraction looks for templates of the concrete intent only.",
        )


def _prompts(draft: Template) -> Iterator[Finding]:
    for field, kind in (("system_prompt", "system"), ("user_prompt", "user")):
        yield from common.required(draft, field, f"Enter the {kind} prompt.")
        yield from programs.template(draft, field, getattr(draft.row, field), intent=draft.row.intent_code)


def _temperature(draft: Template) -> Iterator[Finding]:
    value = draft.row.temperature
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 2:
        yield draft.error("TEMPERATURE", "temperature", "Temperature must be between 0 and 2.")


def _contract(draft: Template) -> Iterator[Finding]:
    yield from programs.json_document(draft, "interaction_contract")
    contract = as_json(draft.row.interaction_contract)
    if contract is None or contract is UNREADABLE:
        return
    lists = contract.values() if isinstance(contract, dict) else ["?"]
    if not all(isinstance(words, list) and all(isinstance(word, str) for word in words) for words in lists):
        yield draft.error(
            "CONTRACT_SHAPE",
            "interaction_contract",
            'Use JSON like {"allows":["affirm","edit"],"expects":["structured_input"]}; both are lists of words.',
        )


def _mode(draft: Template) -> Iterator[Finding]:
    mode = draft.row.interaction_mode
    if not blank(mode) and InteractionMode.read(mode) is None:
        yield draft.warning(
            "CHOICE_UNKNOWN",
            "interaction_mode",
            f"Mode {mode} is not known, so it acts like NORMAL.{did_you_mean(str(mode), InteractionMode)}",
        )


def _contract_words(draft: Template) -> Iterator[Finding]:
    contract = as_json(draft.row.interaction_contract)
    for part, words in (("allows", ALLOWS), ("expects", EXPECTS)):
        listed = named(contract, part)
        if listed is None:
            continue
        for word in sorted(listed - set(words)):
            yield draft.warning(
                "CONTRACT_UNKNOWN_WORD",
                "interaction_contract",
                f"{word} is not a capability the engine knows; it will be ignored.",
            )
        for word in sorted(of_mode(draft.row.interaction_mode) & set(words) - listed):
            mode = draft.row.interaction_mode
            yield draft.warning(
                "CONTRACT_CONTRADICTS_MODE",
                "interaction_contract",
                f"Mode {mode} usually allows {word}; the contract does not name it, so it is off.",
            )


def _two(draft: Template) -> Iterator[Finding]:
    if not draft.row.enabled:
        return
    for other in draft.others(relations.same_scope(draft.snapshot, draft.row)):
        if code(other.response_type) == code(draft.row.response_type):
            yield draft.warning(
                "TWO_TEMPLATES",
                None,
                f"Row {other.pk} has the same use and scope. The newest enabled one is used.",
            )
            return


def _used(draft: Template) -> Iterator[Finding]:
    row = draft.row
    if not row.enabled or code(row.response_type) == PromptUse.SCHEMA_JSON:
        return
    for response in relations.sharing_scope(draft.snapshot, rows.Response, row.intent_code, row.state_code):
        derived = code(response.response_type) == ResponseType.DERIVED
        if derived and code(response.output_format) == code(row.response_type):
            return
    yield draft.warning("PROMPT_WITHOUT_RESPONSE", None, "No DERIVED response uses this template yet.")


def _confirms_a_schema(draft: Template) -> Iterator[Finding]:
    row = draft.row
    if not row.enabled or not capabilities(row) & {"affirm", "edit"}:
        return
    if not any(relations.sharing_scope(draft.snapshot, rows.OutputSchema, row.intent_code, row.state_code)):
        yield confirm_state_no_schema(draft, "interaction_mode", code(row.state_code))


FORM: tuple[Check, ...] = (common.scope, _use, _prompts, _temperature, _contract)
FIT: tuple[Check, ...] = (
    common.scope_fit,
    _mode,
    _contract_words,
    _confirms_a_schema,
    common.duplicate_row,
    _two,
    _used,
)
