"""The form of every configuration row: the save checks report at its fields before anything is stored."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundField
from django.forms.models import construct_instance
from django.forms.utils import ErrorList
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminTextInputWidget

from config_admin.editing import reasons
from config_admin.editing.context import get_editor_context
from config_admin.editing.deleted_row import AGAIN, DeletedRow
from config_admin.editing.edit_conflict import Meeting, SeenVersion
from config_admin.editing.fields import Unread
from config_admin.editing.reasons import get_subject
from config_admin.editing.translated_texts import RowTranslations
from config_admin.manual.links import entry_url
from config_admin.releases.blobs import hash_of
from config_admin.releases.compile import row_of
from config_admin.validation.codes import CODES
from config_admin.validation.draft import Finding
from config_admin.validation.save_checks import check_row, stale_edit
from config_admin.validation.secret_columns import mask_row
from convengine.engine.turn.rows import Row
from convengine.server.interfaces.older_templates import ConvertedExpression, convert_row

#: Names of inputs that belong to the form, not to the row.
CONFIRM, CONFIRMED = "_confirm", "_confirmed"


class RowBoundField(BoundField):
    """A field that shows its warnings below the input, and connects help, warnings and errors for screen readers."""

    def __init__(self, form: "RowForm", field: forms.Field, name: str) -> None:
        super().__init__(form, field, name)
        if self.help_text:
            self.help_text = format_html('<span id="{}_helptext">{}</span>', self.auto_id, self.help_text)

    def as_widget(self, *args: Any, **options: Any) -> SafeString:
        """The input, and its warnings as a list."""
        widget, findings = super().as_widget(*args, **options), self._field_findings()
        if not findings:
            return widget
        items = format_html_join(
            "", "<li>{} {}</li>", ((finding.message, code_link(finding.code)) for finding in findings)
        )
        return format_html('{}<ul class="ce-warnings" id="{}_warning">{}</ul>', widget, self.auto_id, items)

    @property
    def aria_describedby(self) -> str | None:
        """The ids of all messages about the input."""
        described_by: Any = super().aria_describedby
        return (
            " ".join(filter(None, [described_by, f"{self.auto_id}_warning" if self._field_findings() else ""])) or None
        )

    def _field_findings(self) -> Sequence[Finding]:
        form: Any = self.form
        return [finding for finding in form.warnings if form.field_name(finding) == self.name]


class RowForm(forms.ModelForm):
    """A row with the reason for changing it.

    Errors prevent saving. New warnings prevent it once, until the user confirms them. If somebody else changed the row
    meanwhile, nothing is overwritten: both changes are shown and merged first.
    """

    request: HttpRequest
    #: Why this user may not have such a row, or blank.
    find_refusal: Callable[[Row], str]
    translations: RowTranslations
    bound_field_class = RowBoundField
    reason = forms.CharField(
        label="Reason for this change",
        error_messages={"required": reasons.MISSING},
        max_length=reasons.MAX_LENGTH,
        widget=UnfoldAdminTextInputWidget({"autocomplete": "off"}),
        help_text="Shown in the history and with the release.",
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"error_class": CodedErrors} | options)
        #: All warnings of the submitted row, and the new ones.
        self.warnings: list[Finding] = []
        self.new_warnings: list[Finding] = []
        #: Expressions of older template forms that are stored in a new form.
        self.conversions: list[ConvertedExpression] = []
        #: The message about a change that somebody else made meanwhile.
        self.stale: Finding | None = None
        #: The submitted row, after the checks.
        self.draft: Row | None = None
        #: For a stored row: changes of others.
        self.meeting: Meeting | None = None
        if not self.is_bound:
            self.initial = mask_row(self.instance._meta.db_table, self.initial)
        if not self.instance._state.adding:
            self.meeting = Meeting(
                self, SeenVersion.of(self.instance, get_editor_context(self.request).snapshot.config_version)
            )
        if "reason" in self.fields:
            subject = get_subject(self.instance, self.initial.get("intent_code"))
            self.fields["reason"].initial = reasons.recall_reason(self.request, subject)

    def is_valid(self) -> bool:
        """True when the row may be saved now."""
        return super().is_valid() and not self.is_held

    @property
    def is_held(self) -> bool:
        """True when nothing is wrong, but the user must confirm first."""
        if (self.meeting and self.meeting.is_on) or (self.deleted_row and AGAIN not in self.data):
            return True
        confirmed = set(self.data.get(CONFIRMED, "").split()) if CONFIRM in self.data else set()
        return not {_key(finding) for finding in self.new_warnings} <= confirmed

    @property
    def deleted_row(self) -> DeletedRow | None:
        return getattr(self.request, "deleted_row", None)

    @property
    def translated_fields(self) -> list[BoundField]:
        return [self[name] for name in self.translations.make_fields()]

    @property
    def warning_keys(self) -> str:
        """The keys of the shown warnings, which the form sends back."""
        return " ".join(_key(finding) for finding in self.new_warnings)

    @property
    def labelled_warnings(self) -> list[tuple[str, str, str]]:
        """Field id, label and text of each new warning, for the list at the top."""
        named = [(self.field_name(finding), finding.message) for finding in self.new_warnings]
        return [
            (self[name].id_for_label, str(self[name].label), text) if name else ("", "", text) for name, text in named
        ]

    def field_name(self, finding: Finding) -> str | None:
        names = {column.attname: column.name for column in self.instance._meta.concrete_fields}
        named = self.translations.find_name(finding.translation) or names.get(finding.field or "", finding.field)
        return named if named in self.fields else None

    def _post_clean(self) -> None:
        """Fill the row and run the save checks; Django's own validation comes after them."""
        if self.meeting:
            self.meeting.take_place()
            if change := self.meeting.other_change:
                row, snapshot = row_of(self.instance), get_editor_context(self.request).snapshot
                self.stale = stale_edit(row, snapshot, who=change.made_by, when=change.when)
        unread = {name: value for name, value in self.cleaned_data.items() if isinstance(value, Unread)}
        for name in unread:
            del self.cleaned_data[name]
        known = self._findings(row_of(self.instance)) if self.meeting else []
        construct_instance(self, self.instance, self._meta.fields, self._meta.exclude)
        self._store_translations()
        self._check_typed_row(unread, known)
        for name, value in unread.items():
            if not self.has_error(name):
                self.add_error(name, value.problem)
        if not self.errors:
            # Older template forms become Jinja2, as the warning said.
            values, self.conversions = convert_row(self.instance._meta.db_table, vars(self.instance))
            self.cleaned_data.update(values)
            super()._post_clean()  # type: ignore[misc]  # The stubs leave Django's hook out.
            self._store_translations()

    def _store_translations(self) -> None:
        if self.translations.inputs:
            # A page that was opened before the workspace had a language has no input for it.
            sent = {name: value for name, value in self.cleaned_data.items() if name in self.data}
            self.instance.translations = self.translations.merge(sent, vars(self.instance))

    def _findings(self, row: Row) -> list[Finding]:
        editor = get_editor_context(self.request)
        return check_row(row, editor.snapshot, editor.world)

    def _check_typed_row(self, unread: dict[str, Any], known: list[Finding]) -> None:
        """Check the row as typed, and note its errors and warnings in the form.

        `unread`: texts that no column could read. `known`: warnings that are not new.
        """
        typed: dict[str, Any] = {name: str(text) for name, text in unread.items()}
        self.draft = draft = replace(row_of(self.instance), **typed)
        if message := self.find_refusal(draft):
            self.add_error(None, ValidationError(message, "FORBIDDEN"))
        findings = self._findings(draft)
        self.warnings = [finding for finding in findings if not finding.is_error]
        self.new_warnings = [finding for finding in self.warnings if finding not in known]
        for finding in findings:
            if finding.is_error:
                self.add_error(self.field_name(finding), ValidationError(finding.message, finding.code))

    def _get_validation_exclusions(self) -> set[str]:
        """Only the checks validate words: a deployment's own ones are no choices of the column."""
        words = {column.name for column in self.instance._meta.concrete_fields if column.choices}
        left_out: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]  # As above.
        return left_out | words


def _key(finding: Finding) -> str:
    return hash_of(f"{finding.code}|{finding.field}|{finding.message}".encode())[:12]


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
        messages = ((message, code_link(error.code)) for error in self.as_data() for message in error.messages)
        items = format_html_join("", "<li>{} {}</li>", messages)
        return format_html('<ul class="{}">{}</ul>', self.error_class, items) if items else SafeString()

    __str__ = __html__ = render
