"""Messages at a field, with a link to the explanation of their code."""

from typing import Any

from django.forms.utils import ErrorList
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from config_admin.manual.links import entry_url
from config_admin.validation.codes import CODES


def code_link(code: str | None) -> SafeString:
    """A link to the manual's entry of a save check code; nothing for other codes."""
    if code not in CODES:
        return SafeString()
    anchor = f"check.{code}"
    return format_html('<a class="ce-code-of" href="{}" data-entry="{}">{}</a>', entry_url(anchor), anchor, code)


class CodedErrors(ErrorList):
    """Errors of a field, each with a link to its explanation."""

    def render(self, *args: Any, **options: Any) -> SafeString:
        """The list as edit pages show it."""
        told = ((message, code_link(error.code)) for error in self.as_data() for message in error.messages)
        items = format_html_join("", "<li>{} {}</li>", told)
        return format_html('<ul class="{}">{}</ul>', self.error_class, items) if items else SafeString()

    __str__ = __html__ = render
