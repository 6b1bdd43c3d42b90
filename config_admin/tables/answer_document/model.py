"""`ce_answer_document`: texts whose sections answer questions."""

from django.db import models

from config_admin.tables.answer_document.checks import SAVE_CHECKS
from config_admin.tables.base_model import ControlPlaneRow
from config_admin.tables.model_fields import (
    document,
    make_enabled_field,
    mark_prose,
    not_blank,
    optional_name,
)
from config_admin.validation.columns import NaturalKey, Problem, declare_column


class CeAnswerDocument(ControlPlaneRow):
    """A document: what it says is shown word for word, with its source, to users who ask for it."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("title",), is_unique=True, ignores_case=True)

    document_id = models.BigAutoField("id", primary_key=True)
    title = declare_column(
        models.CharField(max_length=200, unique=True, help_text="Users see it where the text has no headings."),
        required=Problem("FIELD_REQUIRED", "Enter the title."),
    )
    content = declare_column(
        mark_prose(
            models.TextField(
                help_text="The text as Markdown: # headings, paragraphs, - lists. Each heading begins a section."
            )
        ),
        required=Problem("FIELD_REQUIRED", "Enter the text, or import a file."),
    )
    link = optional_name(max_length=500, help_text="The address of the document, which its cards lead to.")
    sections = declare_column(
        document(
            default=dict,
            help_text=(
                "By section, named by the path of its headings: off (true), weight (a number, 1 is usual), askedAs (a "
                "list of questions that it answers)."
            ),
        ),
        shape=dict,
        misshapen=Problem("SHAPE_INVALID", "This must be a JSON object."),
    )
    user_group = optional_name(
        max_length=120, help_text="Only users whose inputParams have this userGroup see it. Empty means all."
    )
    enabled = make_enabled_field()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_answer_document"
        verbose_name = "answer document"
        constraints = not_blank("title", code="FIELD_REQUIRED", message="Enter the title.")
