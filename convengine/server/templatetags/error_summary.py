"""The summary of a page's errors: each names its field and links to it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django import template
from django.forms import BaseForm, BaseFormSet
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag(takes_context=True)
def error_summary(context: Mapping[str, Any]) -> SafeString:
    """All errors of the page's fields: `2 errors: “State” is required; “Priority”: Enter a whole number.`"""
    return summarize_errors(_list_forms(context))


@register.simple_tag
def form_error_summary(*forms: "BaseForm | BaseFormSet[Any]") -> SafeString:
    """The summary of the errors of the forms and form sets that a page names."""
    return summarize_errors(
        form for given in forms for form in (given.forms if isinstance(given, BaseFormSet) else (given,))
    )


def summarize_errors(forms: Iterable[BaseForm]) -> SafeString:
    """The errors of the fields of forms in one line, each a link to its field; blank without errors."""
    errors = [error for form in forms for error in _list_errors(form)]
    if not errors:
        return SafeString()
    links = format_html_join("; ", '<a class="underline" href="#{}">{}</a>', errors)
    return format_html("{} error{}: {}.", len(errors), "" if len(errors) == 1 else "s", links)


def _list_forms(context: Mapping[str, Any]) -> Iterator[BaseForm]:
    """The forms of a change page with its inlines, of an editable list, or the only one of a page."""
    if adminform := context.get("adminform"):
        yield adminform.form
        for inline in context.get("inline_admin_formsets") or ():
            yield from inline.formset.forms
    elif formset := getattr(context.get("cl"), "formset", None):
        yield from formset.forms
    elif form := context.get("form"):
        yield form


def _list_errors(form: BaseForm) -> Iterator[tuple[str, str]]:
    """The id of each field with an error, and what is wrong there."""
    errors = form.errors.as_data()
    for name in form.fields:
        if name in errors:
            error, label = errors[name][0], f"“{form[name].label}”"
            # The first sentence of the error; the field shows all of it.
            text = f"{label}: {error.messages[0].partition('. ')[0].removesuffix('.')}"
            is_missing = error.code == "required"
            yield form[name].id_for_label or form[name].auto_id, f"{label} is required" if is_missing else text
