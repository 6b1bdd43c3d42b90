"""`ce_container_config`: data to fetch for an intent and state."""

from collections.abc import Iterator

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import NAME_FORMAT, make_enabled_field, priority
from config_admin.validation import common, relations
from config_admin.validation.columns import NaturalKey, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from convengine.engine.text.wording import join_names
from convengine.engine.turn import rows
from convengine.engine.turn.params import KEY_SHAPE

Container = Draft[rows.ContainerConfig]
_ADDRESS = ("page_id", "section_id", "container_id")


def _check_param_name(draft: Container) -> Iterator[Finding]:
    if KEY_SHAPE.match(draft.row.input_param_name or "") is None:
        yield draft.error("PARAM_NAME", "input_param_name", "Use only letters, digits, underscores, dots and hyphens.")


def _check_provider(draft: Container) -> Iterator[Finding]:
    row = draft.row
    # A draft may still lack numbers.
    address: tuple[int | None, ...] = (row.page_id, row.section_id, row.container_id)
    providers = draft.world.providers
    known = join_names("/".join("*" if part is None else str(part) for part in each) for each in providers)
    if None in address:
        for field, part in zip(_ADDRESS, address, strict=True):
            if part is None:
                yield draft.error("PROVIDER_UNKNOWN", field, f"Enter a number. Registered: {known}.")
    elif not any(all(part in (None, wanted) for part, wanted in zip(each, address, strict=True)) for each in providers):
        yield draft.error(
            "PROVIDER_UNKNOWN",
            "container_id",
            f"No data provider is registered for page {row.page_id}, section {row.section_id}, container "
            f"{row.container_id}. Registered: {known}.",
        )


def _check_param_in_form(draft: Container) -> Iterator[Finding]:
    """Only if the intent collects fields; otherwise sending the user's text is intended."""
    fields = relations.list_form_fields(draft.snapshot, draft.row.intent_code)
    name = draft.row.input_param_name
    if fields and name not in fields:
        yield draft.warning(
            "PARAM_NOT_IN_SCHEMA",
            "input_param_name",
            f"{name} is not a field of this intent's form. The user's message is sent instead.",
        )


_check_duplicate_param = common.make_rival_check(
    "DUPLICATE",
    "input_param_name",
    "Row {other.pk} writes the same key. The later one overwrites the value.",
    key=lambda row: row.input_param_name,
)


class CeContainerConfig(ScopedRow):
    """One piece of data that a registered provider puts into the context."""

    save_checks = SaveChecks(
        form=(_check_param_name, _check_provider),
        fit=(_check_param_in_form, common.check_duplicate_row, _check_duplicate_param),
    )
    natural_key = NaturalKey(("intent_code", "state_code", "page_id", "section_id", "container_id"))

    id = models.BigAutoField("id", primary_key=True)
    page_id = models.IntegerField("page", help_text="First part of the address of the data.")
    section_id = models.IntegerField("section", help_text="Second part of the address of the data.")
    container_id = models.IntegerField("container", help_text="Third part of the address of the data.")
    input_param_name = declare_column(
        models.CharField(
            "name",
            validators=[NAME_FORMAT],
            help_text="The parameter sent to the provider. Its result is stored under the same name.",
        ),
        is_code=True,
    )
    priority = priority(1)
    enabled = make_enabled_field()

    class Meta(ScopedRow.Meta):
        db_table = "ce_container_config"
        verbose_name = "data source"
        indexes = [index("ce_container_lookup", "intent_code", "state_code", "enabled", "priority")]
