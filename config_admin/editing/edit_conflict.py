"""An edit conflict: both sides are shown, merged, and chosen between; nothing is lost.

A form sends back the version of the row that its editor saw; if the row has changed since, it continues from the newest
state: changes of the others are filled in, changes of the user stay, and fields that both changed wait for a choice. A
form with open choices is not saved.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django import forms
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from config_admin.editing.field_merge import (
    BOTH,
    CHOOSE,
    MINE,
    THEIRS,
    FieldMerge,
    as_text,
    list_merges,
    to_input_value,
)
from config_admin.releases.blobs import canonical, hash_of
from config_admin.releases.content import content_of
from config_admin.releases.queries import NoSuchRelease, row_at
from config_admin.releases.row_history import find_last_version, list_versions_after
from config_admin.releases.tree import Content
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.server.interfaces.release_history import RowVersion


class SeenVersion(NamedTuple):
    """What an editor saw: the row's content, and the release in force when the form was made."""

    config_version: int
    content: str

    @classmethod
    def of(cls, instance: Any, config_version: int) -> "SeenVersion":
        """The present stored row."""
        return cls(config_version, _digest_of(content_of(instance)))

    @classmethod
    def parse(cls, text: str) -> "SeenVersion":
        """Parse what a form sent back; an invalid text matches nothing."""
        version, _, content = text.partition("-")
        return cls(parse_whole_number(version) or 0, content)

    def __str__(self) -> str:
        return f"{self.config_version}-{self.content}"


def _find_seen_content(instance: Any, seen: SeenVersion) -> Content | None:
    """The row as an editor saw it. Returns None when no release has it."""
    try:
        content = row_at(seen.config_version, instance._meta.db_table, instance.pk) if seen.config_version else None
    except NoSuchRelease:
        return None
    return content if content is not None and _digest_of(content) == seen.content else None


def _digest_of(content: Content) -> str:
    """A digest of a row's content."""
    return hash_of(canonical(content))[:16]


#: Inputs of the form: its present base, the state before the others' change, the release before the first such change,
#: and the fields that wait for a choice.
SEEN, BASE, MET, OPEN = "_seen", "_base", "_met", "_open"
#: Prefixes of inputs, one per field: the chosen side, and the combined text.
CHOICE, TEXT = "_choice_", "_both_"


class Side:
    """A field with both sides and its choice."""

    def __init__(self, form: forms.ModelForm, merge: FieldMerge) -> None:
        self.merge = merge
        self._form = form
        self.chosen = str(form.data.get(CHOICE + merge.name, ""))
        self.is_open = merge.outcome == CHOOSE

    @property
    def choice(self) -> str:
        """The name of the input for the choice."""
        return CHOICE + self.merge.name

    @property
    def editor(self) -> SafeString | str:
        """The input for the combined text; blank for fields without one."""
        if self.merge.combined is None:
            return ""
        name = TEXT + self.merge.name
        widget: Any = self._form.fields[self.merge.name].widget
        label = f"{self.merge.label}, both together"
        attributes = {"id": f"id{name}", "aria-label": label, "data-try": False}
        text = self._form.data.get(name, self.merge.combined)
        editor: SafeString = type(widget)({**widget.attrs, **attributes}).render(name, text)
        return editor


class Meeting:
    """Handles changes that others made since the form was opened."""

    def __init__(self, form: Any, stored: SeenVersion) -> None:
        self.form = form
        #: The stored row before the form fills it in.
        self.stored = stored
        #: The change of the others, if the form has just noticed.
        self.other_change: RowVersion | None = None
        #: The shown fields with both sides.
        self.sides: Sequence[Side] = ()
        #: True while the form waits for a choice.
        self.is_on = False
        self._seen = SeenVersion.parse(form.data.get(SEEN, ""))
        self._base = str(form.data.get(BASE, ""))
        self._met = str(form.data.get(MET, ""))

    @property
    def inputs(self) -> SafeString:
        """The inputs that the form sends back."""
        hidden_inputs = {SEEN: str(self.stored), BASE: self._base, MET: self._met}
        if self.is_on:
            hidden_inputs[OPEN] = " ".join(side.merge.name for side in self.sides if side.is_open)
        return format_html_join(
            "\n",
            '<input type="hidden" name="{}" value="{}">',
            ((name, value) for name, value in hidden_inputs.items() if value),
        )

    @property
    def who(self) -> str:
        """The author of the other change."""
        return (self.other_change or self._find_other_change()).made_by

    @property
    def has_open(self) -> bool:
        """True when a field waits for a choice."""
        return any(side.is_open for side in self.sides)

    @property
    def note(self) -> str:
        """The note in the history of a saved form that merged others' changes, or blank."""
        if (met := parse_whole_number(self._met)) is None:
            return ""
        row = self.form.instance
        versions = reversed(list_versions_after(row._meta.db_table, row.pk, met))
        authors = "; ".join(f"{version.made_by}, release {version.config_version}" for version in versions)
        return f"combined with the change of {authors}" if authors else ""

    def take_place(self) -> None:
        """Compare and merge. Call it with cleaned data, before the row is filled in."""
        form, theirs = self.form, content_of(self.form.instance)
        waiting = [name for name in str(form.data.get(OPEN, "")).split() if name in form.fields]
        undecided = [name for name in waiting if form.data.get(CHOICE + name) not in (THEIRS, MINE, BOTH)]
        is_stale = self._seen.content != self.stored.content
        if undecided and not is_stale:
            self._show(_find_seen_content(form.instance, SeenVersion.parse(self._base)), theirs, waiting)
            return
        before = _find_seen_content(form.instance, self._seen) if is_stale else theirs
        self._choose([name for name in waiting if name not in undecided], before or theirs)
        if is_stale:
            self.other_change = self._find_other_change()
            self._base, self._met = str(self._seen), self._met or str(self._seen.config_version)
            self._show(before, theirs, undecided)

    def _find_other_change(self) -> RowVersion:
        last = find_last_version(self.form.instance._meta.db_table, self.form.instance.pk)
        is_own = last.made_by == self.form.request.user.get_username()
        return last._replace(made_by="another window of yours") if is_own else last

    def _choose(self, names: Sequence[str], theirs: Content) -> None:
        """Set the fields as the user chose: theirs, or the combined text. Mine is in the form already."""
        for name in names:
            chosen = self.form.data[CHOICE + name]
            if chosen == THEIRS:
                self._set_field(name, theirs[name])
            elif chosen == BOTH:
                text = str(self.form.data.get(TEXT + name, ""))
                self._send(name, text)
                self.form.cleaned_data[name] = self.form.fields[name].clean(text)

    def _show(self, base: Content | None, theirs: Content, undecided: Sequence[str]) -> None:
        """Take the fields that only they changed, and show both sides of the fields that differ."""
        merges = list(list_merges(self.form, base, theirs, self.form.cleaned_data, undecided))
        for merge in merges:
            if merge.outcome == THEIRS:
                self._set_field(merge.name, theirs[merge.name])
        self.is_on = True
        self.sides = [Side(self.form, merge) for merge in sorted(merges, key=lambda merge: merge.outcome != CHOOSE)]

    def _set_field(self, name: str, value: Any) -> None:
        """Set a field of the form to the row's value."""
        field = self.form.fields[name]
        if isinstance(field, forms.BooleanField):
            self._send(name, "on" if value else None)
            self.form.cleaned_data[name] = bool(value)
        else:
            self._send(name, as_text(field, value))
            self.form.cleaned_data[name] = to_input_value(field, value)

    def _send(self, name: str, text: str | None) -> None:
        """Change what was submitted, as if the user had sent this text; None removes the input."""
        self.form.data = data = self.form.data.copy()
        if text is None:
            data.pop(name, None)
        else:
            data[name] = text
