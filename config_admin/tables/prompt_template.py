"""`ce_prompt_template`: prompt texts, and what the user may do in that state."""

from collections.abc import Iterator
from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import Decimals, document, make_enabled_field, word
from config_admin.tables.output_schema import report_confirmation_without_form
from config_admin.validation import common, relations
from config_admin.validation.columns import TEMPLATE, Bounds, ColumnProblem, NaturalKey, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.relations import UNREADABLE, as_json
from convengine.engine.prompts.select import ALLOWS, EXPECTS, find_capabilities, read_words, words_of_mode
from convengine.engine.text.compare import blank, code
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn import rows
from convengine.engine.turn.enums import InteractionMode, PromptUse, ResponseType
from convengine.engine.turn.scope import ANY

Template = Draft[rows.PromptTemplate]


def _check_intent_of_use(draft: Template) -> Iterator[Finding]:
    if code(draft.row.response_type) == PromptUse.SCHEMA_JSON and code(draft.row.intent_code) == ANY:
        yield draft.error(
            "SCHEMA_PROMPT_INTENT_ANY",
            "intent_code",
            "A template that extracts fields must belong to one intent. Choose the intent.",
        )


#: The lists of a contract.
_CONTRACT_PARTS = frozenset({"allows", "expects"})


def _check_contract(draft: Template) -> Iterator[Finding]:
    contract = as_json(draft.row.interaction_contract)
    if contract is None or contract is UNREADABLE:
        return
    parts = contract if isinstance(contract, dict) else {"allows": "?"}
    lists = [words for part, words in parts.items() if part in _CONTRACT_PARTS]
    for part in parts.keys() - _CONTRACT_PARTS:
        yield draft.warning(
            "CONTRACT_SHAPE",
            "interaction_contract",
            f"{part} has no effect. A contract has the lists allows and expects.",
        )
    if not all(isinstance(words, list) and all(isinstance(word, str) for word in words) for words in lists):
        yield draft.error(
            "CONTRACT_SHAPE",
            "interaction_contract",
            'Use JSON like {"allows":["affirm","edit"],"expects":["structured_input"]}; both must be lists of words.',
        )


def _check_mode(draft: Template) -> Iterator[Finding]:
    mode = draft.row.interaction_mode
    if not blank(mode) and InteractionMode.read(mode) is None:
        yield draft.warning(
            "CHOICE_UNKNOWN",
            "interaction_mode",
            f"The mode {mode} is unknown and is treated like NORMAL.{did_you_mean(str(mode), InteractionMode)}",
        )


def _check_contract_words(draft: Template) -> Iterator[Finding]:
    contract = as_json(draft.row.interaction_contract)
    for part, words in (("allows", ALLOWS), ("expects", EXPECTS)):
        listed = read_words(contract, part)
        if listed is None:
            continue
        for name in sorted(listed - set(words)):
            yield draft.warning(
                "CONTRACT_UNKNOWN_WORD",
                "interaction_contract",
                f"{name} is an unknown capability and is ignored.",
            )
        for name in sorted(words_of_mode(draft.row.interaction_mode) & set(words) - listed):
            mode = draft.row.interaction_mode
            yield draft.warning(
                "CONTRACT_CONTRADICTS_MODE",
                "interaction_contract",
                f"Mode {mode} usually allows {name}, but the contract does not list it, so it is not allowed.",
            )


_check_duplicate_use = common.make_rival_check(
    "TWO_TEMPLATES",
    None,
    "Row {other.pk} has the same use and scope. Only the newest enabled one is used.",
    key=lambda row: code(row.response_type),
)


def _check_use(draft: Template) -> Iterator[Finding]:
    row = draft.row
    if not row.enabled or code(row.response_type) == PromptUse.SCHEMA_JSON:
        return
    for response in relations.find_rows_sharing_scope(draft.snapshot, rows.Response, row.intent_code, row.state_code):
        derived = code(response.response_type) == ResponseType.DERIVED
        if derived and code(response.output_format) == code(row.response_type):
            return
    yield draft.warning("PROMPT_WITHOUT_RESPONSE", None, "No answer of type DERIVED uses this template yet.")


def _check_confirmed_form(draft: Template) -> Iterator[Finding]:
    row = draft.row
    if not row.enabled or not find_capabilities(row) & {"affirm", "edit"}:
        return
    if not any(relations.find_rows_sharing_scope(draft.snapshot, rows.OutputSchema, row.intent_code, row.state_code)):
        yield report_confirmation_without_form(draft, "interaction_mode", code(row.state_code))


_TEMPERATURE = ColumnProblem("TEMPERATURE", "Temperature must be between 0 and 2.")


class CePromptTemplate(ScopedRow):
    """The prompts of one use in one scope. Among equals, the newest is used."""

    save_checks = SaveChecks(
        form=(_check_intent_of_use, _check_contract),
        fit=(
            _check_mode,
            _check_contract_words,
            _check_confirmed_form,
            common.check_duplicate_row,
            _check_duplicate_use,
            _check_use,
        ),
    )
    natural_key = NaturalKey(("intent_code", "state_code", "response_type"))

    template_id = models.BigAutoField("id", primary_key=True)
    response_type = word(
        PromptUse,
        unknown=ColumnProblem("RESPONSE_TYPE_PROMPT", "Choose {one_of}. Other types belong to answers."),
        verbose_name="used for",
    )
    system_prompt = declare_column(
        models.TextField(),
        required=ColumnProblem("FIELD_REQUIRED", "Enter the system prompt."),
        language=TEMPLATE,
        is_strict=True,
        help="The system prompt.",
    )
    user_prompt = declare_column(
        models.TextField(),
        required=ColumnProblem("FIELD_REQUIRED", "Enter the user prompt."),
        language=TEMPLATE,
        is_strict=True,
        help="What the model is asked.",
    )
    temperature = declare_column(
        Decimals(
            max_digits=3,
            decimal_places=2,
            default=Decimal("0.00"),
            db_default=Decimal("0.00"),
            validators=[
                MinValueValidator(Decimal(0), _TEMPERATURE.text),
                MaxValueValidator(Decimal(2), _TEMPERATURE.text),
            ],
            help_text="0.00 to 2.00. Passed to the model.",
        ),
        bounds=Bounds(0, 2, _TEMPERATURE, is_whole=False),
    )
    interaction_mode = word(
        InteractionMode,
        unknown=None,
        null=True,
        blank=True,
        help_text="What the user may do in this state. Empty means no restriction.",
    )
    interaction_contract = document(
        null=True,
        blank=True,
        help_text='Decides over the mode, for example {"allows": ["affirm", "edit"], "expects": ["structured_input"]}.',
    )
    enabled = make_enabled_field()

    class Meta(ScopedRow.Meta):
        db_table = "ce_prompt_template"
        verbose_name = "prompt template"
        indexes = [index("ce_prompt_template_lookup", "response_type", "intent_code", "state_code", "enabled")]
