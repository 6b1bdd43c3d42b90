"""An edit conflict: both sides are shown, merged, and chosen between; nothing is lost.

A form sends back the version of the row that its editor saw; if the row has changed since, it continues from the newest
state: changes of the others are filled in, changes of the user stay, and fields that both changed wait for a choice. A
form with open choices is not saved.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django import forms
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from config_admin.editing.fields import JsonField, PickerInput, PlainTextField, Unread, WordSelect
from config_admin.editing.row_diff import diff_column, text_of
from config_admin.releases.blobs import canonical, hash_of
from config_admin.releases.content import as_json, content_of
from config_admin.releases.queries import NoSuchRelease, row_at
from config_admin.releases.row_history import find_last_version, list_versions_after
from config_admin.releases.tree import Content, has_same_text
from config_admin.validation.secret_columns import mask_value
from convengine.engine.text.difference import ABSENT, MAX_PARTS, Difference, list_opcodes, list_words
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.json_value import Json
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
#: The result for a field: the only changed side, or a choice.
THEIRS, MINE, BOTH, CHOOSE = "theirs", "mine", "both", "choose"
#: Prefixes of inputs, one per field: the chosen side, and the combined text.
CHOICE, TEXT = "_choice_", "_both_"


class FieldMerge(NamedTuple):
    """A field that either side changed."""

    name: str
    label: str
    outcome: str
    #: The text before both changes.
    base: str
    theirs: Difference
    mine: Difference
    #: Both changes as one, for the input. None for fields that cannot be combined.
    combined: str | None


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
        form, theirs = self.form, self.form.translations.expand(content_of(self.form.instance))
        waiting = [name for name in str(form.data.get(OPEN, "")).split() if name in form.fields]
        undecided = [name for name in waiting if form.data.get(CHOICE + name) not in (THEIRS, MINE, BOTH)]
        is_stale = self._seen.content != self.stored.content
        if undecided and not is_stale:
            self._show(self._find_seen(SeenVersion.parse(self._base)), theirs, waiting)
            return
        before = self._find_seen(self._seen) if is_stale else theirs
        self._choose([name for name in waiting if name not in undecided], before or theirs)
        if is_stale:
            self.other_change = self._find_other_change()
            self._base, self._met = str(self._seen), self._met or str(self._seen.config_version)
            self._show(before, theirs, undecided)

    def _find_seen(self, seen: SeenVersion) -> Content | None:
        content = _find_seen_content(self.form.instance, seen)
        return None if content is None else self.form.translations.expand(content)

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


# --- fields, merged ----------------------------------------------------------------------------------------------


def list_merges(
    form: Any,
    base: Content | None,
    theirs: Content,
    mine: Mapping[str, Any],
    undecided: Collection[str] = (),
) -> Iterator[FieldMerge]:
    """The changed fields. `mine` is cleaned. Without a base, and for `undecided` fields, every difference needs a
    choice.
    """
    for name, field in form.fields.items():
        if name not in mine or name not in theirs:
            continue
        now, own = to_input_value(field, theirs[name]), mine[name]
        was = now if base is None else to_input_value(field, base[name])
        if _is_equal_value(was, now) and _is_equal_value(was, own):
            continue
        outcome = _choose_outcome(was, now, own, is_open=base is None or name in undecided)
        if outcome:
            table, (stored, newest, typed) = form._meta.model._meta.db_table, map(as_json, (was, now, own))
            column = form.translations.columns.get(name, name)
            base_text = text_of({name: mask_value(table, column, stored)}, name)
            sides = diff_column(table, column, stored, newest), diff_column(table, column, stored, typed)
            combined = combine_sides(field, was, now, own) if outcome == CHOOSE else None
            yield FieldMerge(name, str(field.label), outcome, base_text, *sides, combined)


def _choose_outcome(was: Any, now: Any, own: Any, *, is_open: bool) -> str:
    """Which side a field takes: mine, theirs, or a choice by the user; blank if both are equal.

    `is_open`: the user chooses whenever the two sides differ.
    """
    if _is_equal_value(now, own):
        return ""
    if is_open:
        return CHOOSE
    if _is_equal_value(was, own):
        return THEIRS
    return MINE if _is_equal_value(was, now) else CHOOSE


def combine_sides(field: forms.Field, was: Any, now: Any, own: Any) -> str | None:
    """Both changes of a text or a document, for its input. Returns None if they cannot be combined."""
    if isinstance(field, JsonField) and not isinstance(own, Unread):
        return str(field.prepare_value(combine_json(was, now, own)) or "")
    if isinstance(field, (JsonField, PlainTextField)) and not isinstance(field.widget, (PickerInput, WordSelect)):
        return combine_texts(*(as_text(field, value) for value in (was, now, own)))
    return None


def to_input_value(field: forms.Field, value: Any) -> Any:
    """A stored value as the field reads it from its input, for comparison."""
    return field.clean(field.prepare_value(value))


def as_text(field: forms.Field, value: Any) -> str:
    """A value as the input of its field shows it."""
    return value if isinstance(value, str) else str(field.prepare_value(value) or "")


def _is_equal_value(value: Any, other: Any) -> bool:
    if isinstance(value, (dict, list)) or isinstance(other, (dict, list)):
        return has_same_text(value, other)
    return bool(value == other)


def combine_texts(base: str, theirs: str, mine: str) -> str:
    """Both changes of a text. Where they overlap, theirs comes first, then mine."""
    texts = (base, theirs, mine)
    parts: list[Sequence[str]] = [list_words(text) for text in texts]
    if sum(map(len, parts)) > 2 * MAX_PARTS:
        parts = [text.splitlines(keepends=True) for text in texts]
    gap = "\n" if any("\n" in text for text in texts) else " "
    merged: list[str] = []
    starts: tuple[int, ...] = (0, 0, 0)
    # Between the words that all three have, both sides are joined.
    for ends in [*_anchors(*parts), tuple(map(len, parts))]:
        between = ("".join(part[start:end]) for part, start, end in zip(parts, starts, ends, strict=True))
        was, now, own = between
        merged += [_join_sides(was, now, own, gap), *parts[0][ends[0] : ends[0] + 1]]
        starts = tuple(end + 1 for end in ends)
    return "".join(merged)


def combine_json(base: Json, theirs: Json, mine: Json) -> Json:
    """Both changes of a document, key by key; if both set one path, mine wins. Lists keep the additions of both."""
    merged = _merge_values(base, theirs, mine)
    return mine if merged is ABSENT else merged


def _join_sides(base: str, theirs: str, mine: str, gap: str) -> str:
    """One text of what both sides made of a text. If both changed it, theirs comes first, after it mine.

    `gap` separates the two, unless there is a blank already.
    """
    if theirs in (base, mine):
        return mine
    if mine == base:
        return theirs
    if not (theirs and mine):
        return theirs or mine
    is_apart = theirs[-1].isspace() or mine[0].isspace()
    return theirs + mine if is_apart else f"{theirs}{gap}{mine}"


def _anchors(base: Sequence[str], theirs: Sequence[str], mine: Sequence[str]) -> list[tuple[int, int, int]]:
    """The positions of words that all three have, in order; blanks count only beside such a word."""
    in_theirs, in_mine = _match_indexes(base, theirs), _match_indexes(base, mine)
    anchors = [(b, in_theirs[b], in_mine[b]) for b in range(len(base)) if b in in_theirs and b in in_mine]
    words = {anchor for anchor in anchors if base[anchor[0]].strip()}
    return [anchor for anchor in anchors if words & {tuple(at + by for at in anchor) for by in (-1, 0, 1)}]


def _match_indexes(base: Sequence[str], other: Sequence[str]) -> Mapping[int, int]:
    """The positions of equal words: those in the other text, by those in the base."""
    return {
        start + step: other_start + step
        for kind, start, stop, other_start, _ in list_opcodes(base, other)
        if kind == "equal"
        for step in range(stop - start)
    }


def _merge_values(base: Json, theirs: Json, mine: Json) -> Json:
    """A JSON value with the changes of both sides. Objects and lists are merged by their members.

    Where both sides changed a value, mine counts; a value that only one side removed stays as the other changed it.
    """
    if _has_equal_text(theirs, base) or _has_equal_text(theirs, mine):
        return mine
    if _has_equal_text(mine, base):
        return theirs
    if isinstance(theirs, dict) and isinstance(mine, dict):
        before = base if isinstance(base, dict) else {}
        keys = dict.fromkeys([*before, *theirs, *mine])
        merged = {key: _merge_values(*(side.get(key, ABSENT) for side in (before, theirs, mine))) for key in keys}
        return {key: value for key, value in merged.items() if value is not ABSENT}
    if isinstance(theirs, list) and isinstance(mine, list):
        return _merge_lists(base if isinstance(base, list) else [], theirs, mine)
    # What one side removed and the other changed stays, changed.
    return theirs if mine is ABSENT else mine


def _merge_lists(base: Sequence[Json], theirs: Sequence[Json], mine: Sequence[Json]) -> list[Json]:
    was, now, their_keys = (set(map(canonical, items)) for items in (base, mine, theirs))
    of_theirs = [item for item in theirs if canonical(item) in now or canonical(item) not in was]
    return [*of_theirs, *(item for item in mine if canonical(item) not in their_keys | was)]


def _has_equal_text(value: Json, other: Json) -> bool:
    return value is other or (value is not ABSENT and other is not ABSENT and has_same_text(value, other))
