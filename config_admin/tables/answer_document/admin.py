"""Admin of `ce_answer_document`."""

from django.contrib import admin
from django.template.defaultfilters import pluralize
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config_admin.tables.answer_document.model import CeAnswerDocument
from config_admin.tables.base_admin import RowAdmin
from convengine.engine.documents.sections import split_document


@admin.register(CeAnswerDocument)
class AnswerDocumentAdmin(RowAdmin):
    """Documents, with the number of their sections."""

    sections = (
        ("Document", ("title", "link", "user_group")),
        ("Text", ("content", "sections")),
        ("Availability", ("enabled",)),
    )
    list_display = ("title", "in_use", "section_link", "link", "user_group")
    search_fields = ("title", "content")
    ordering = ("title",)

    @admin.display(description="sections")
    def section_link(self, row: CeAnswerDocument) -> SafeString:
        """How many sections with text it has, with a link to them."""
        count = len(split_document(row.title, row.content))
        return format_html('<a class="ce-link" href="{}/sections/">{} section{}</a>', row.pk, count, pluralize(count))
