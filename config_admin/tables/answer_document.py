"""`ce_answer_document`: texts whose sections answer questions."""

from collections.abc import Iterator, Mapping

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow
from config_admin.tables.model_fields import (
    document,
    make_enabled_field,
    mark_prose,
    not_blank,
    optional_name,
)
from config_admin.validation.columns import ColumnProblem, NaturalKey, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from convengine.engine.documents.sections import split_document
from convengine.engine.text.compare import blank
from convengine.engine.text.wording import did_you_mean, join_names
from convengine.engine.turn import rows

AnswerDocument = Draft[rows.AnswerDocument]
#: What may be set of a section, with the type of each.
SECTION_KEYS: Mapping[str, type | tuple[type, ...]] = {"off": bool, "weight": (int, float), "askedAs": list}
_MOST_CHARACTERS = 3_000_000


def _check_link(draft: AnswerDocument) -> Iterator[Finding]:
    link = (draft.row.link or "").strip()
    if link and not link.startswith(("https://", "http://", "/")):
        yield draft.error(
            "ADDRESS_INVALID", "link", "Enter an address that begins with https:// or /, or leave the field empty."
        )


def _check_content(draft: AnswerDocument) -> Iterator[Finding]:
    if len(draft.row.content) > _MOST_CHARACTERS:
        yield draft.error(
            "TEXT_TOO_LONG", "content", f"The text has more than {_MOST_CHARACTERS:,} characters. Split the document."
        )
    elif not blank(draft.row.content) and not split_document(draft.row.title, draft.row.content):
        yield draft.error("DOCUMENT_EMPTY", "content", "The document has headings only. Add text below them.")


def _check_sections(draft: AnswerDocument) -> Iterator[Finding]:
    sections = draft.row.sections
    if not isinstance(sections, Mapping):
        return
    names = [section.name for section in split_document(draft.row.title, draft.row.content)]
    for name, choices in sections.items():
        if name not in names:
            yield draft.warning(
                "SECTION_UNKNOWN", "sections", f"The document has no section “{name}”.{did_you_mean(str(name), names)}"
            )
        yield from _check_choices(draft, str(name), choices)


def _check_choices(draft: AnswerDocument, name: str, choices: object) -> Iterator[Finding]:
    if not isinstance(choices, Mapping) or not set(choices) <= SECTION_KEYS.keys():
        yield draft.error("SHAPE_INVALID", "sections", f"Of the section “{name}”, use only {join_names(SECTION_KEYS)}.")
        return
    for key, value in choices.items():
        is_right = isinstance(value, SECTION_KEYS[key]) and isinstance(value, bool) is (key == "off")
        if not is_right or (key == "askedAs" and not all(isinstance(text, str) for text in value)):
            yield draft.error(
                "SHAPE_INVALID",
                "sections",
                f"Of the section “{name}”, off is true or false, weight is a number, and askedAs is a list of texts.",
            )


class CeAnswerDocument(ControlPlaneRow):
    """A document: what it says is shown word for word, with its source, to users who ask for it."""

    save_checks = SaveChecks(form=(_check_link, _check_content, _check_sections))
    natural_key = NaturalKey(("title",), is_unique=True, ignores_case=True)

    document_id = models.BigAutoField("id", primary_key=True)
    title = declare_column(
        models.CharField(max_length=200, unique=True, help_text="Users see it where the text has no headings."),
        required=ColumnProblem("FIELD_REQUIRED", "Enter the title."),
    )
    content = declare_column(
        mark_prose(
            models.TextField(
                help_text="The text as Markdown: # headings, paragraphs, - lists. Each heading begins a section."
            )
        ),
        required=ColumnProblem("FIELD_REQUIRED", "Enter the text, or import a file."),
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
        misshapen=ColumnProblem("SHAPE_INVALID", "This must be a JSON object."),
    )
    user_group = optional_name(
        max_length=120, help_text="Only users whose inputParams have this userGroup see it. Empty means all."
    )
    enabled = make_enabled_field()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_answer_document"
        verbose_name = "answer document"
        constraints = not_blank("title", code="FIELD_REQUIRED", message="Enter the title.")
