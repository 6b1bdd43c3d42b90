"""What an installation has beside its configuration, as sections of a file: webhooks, channels, keys and more."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any

from django import forms
from django.contrib.auth.models import Group, Permission
from django.db.models import JSONField

from config_admin.transfer.document import FileRow, ImportMode
from convengine.engine.text.wording import did_you_mean
from convengine.json_value import Json
from convengine.server.api.admin import ApiKeyForm
from convengine.server.api.models import CeApiKey
from convengine.server.channels.models import CeChannel
from convengine.server.channels.providers import list_providers
from convengine.server.executors.admin import DOCUMENTS
from convengine.server.interfaces.installation_section import InstallationSection, alert_rules
from convengine.server.webhooks.admin import WebhookForm
from convengine.server.webhooks.models import CeWebhook
from convengine.server.webhooks.send import create_secret


class _WebhookForm(WebhookForm):
    """A file may be judged where the names of production are not known, as in CI."""

    must_resolve = False


class _ChannelForm(forms.ModelForm):  # type: ignore[type-arg]
    """A channel of a file: secrets by their names, as on its page. They may be missing where the file is judged."""

    def clean_provider(self) -> str:
        name, known = self.cleaned_data["provider"], list_providers()
        if name not in known:
            raise forms.ValidationError(f"This installation has no provider {name}.{did_you_mean(name, known)}")
        return str(name)

    def clean(self) -> None:
        provider = list_providers().get(self.cleaned_data.get("provider", ""))
        for column in ("secrets", "settings") if provider else ():
            problem = _check_names(self.cleaned_data.get(column), getattr(provider, column))
            if problem:
                self.add_error(column, problem)


def _check_names(given: Json, declared: Mapping[str, str]) -> str:
    """What is wrong with the secrets or settings of a channel. Blank if nothing is. A name with ? may be missing."""
    known = {name.removesuffix("?") for name in declared}
    if not isinstance(given, Mapping) or not all(isinstance(value, str) and value for value in given.values()):
        return "This must be an object of texts."
    if unknown := sorted(given.keys() - known):
        return f"There is no {unknown[0]!r}.{did_you_mean(unknown[0], known)}"
    missing = [name for name in declared if name in known - given.keys()]
    return f"{missing[0]} is missing." if missing else ""


def _list_rights() -> Mapping[str, Any]:
    rights = Permission.objects.select_related("content_type")
    return {f"{right.content_type.app_label}.{right.codename}": right.pk for right in rights}


def _add_webhook(row: CeWebhook) -> str:
    row.secret = create_secret()
    row.save()
    return row.secret


def _add_key(row: Any) -> str:
    secret = str(CeApiKey.objects.assign_key(row))
    row.save()
    return secret


def _revoke_key(row: CeApiKey) -> None:
    row.revoked = True
    row.save()


@cache
def list_sections() -> Mapping[str, InstallationSection]:
    """The sections of a file, by their names."""
    webhooks = InstallationSection(
        CeWebhook,
        ("name", "url", "events", "workspace_id", "is_enabled"),
        "name",
        _WebhookForm,
        CeWebhook.objects.all,
        add=_add_webhook,
    )
    keys = InstallationSection(
        CeApiKey,
        ("name", "workspace_id", "scopes", "expiry_date"),
        "name",
        ApiKeyForm,
        # Keys that people made are theirs.
        lambda: CeApiKey.objects.filter(made_by=None, revoked=False),
        add=_add_key,
        remove=_revoke_key,
    )
    groups = InstallationSection(
        Group,
        ("name", "permissions"),
        "name",
        list_rows=Group.objects.all,
        links={"permissions": _list_rights},
    )
    channels = InstallationSection(
        CeChannel,
        (
            *("name", "provider", "workspace_id", "is_enabled", "secrets", "settings", "locale", "attachment_text"),
            *("failure_text", "opt_out_words", "opt_out_text", "opt_in_words", "opt_in_text"),
        ),
        "name",
        _ChannelForm,
        CeChannel.objects.all,
    )
    sections = {"webhooks": webhooks, "channels": channels, "keys": keys, "groups": groups}
    return {**sections, "alert_rules": alert_rules(), "documents": DOCUMENTS}


@dataclass(frozen=True)
class EntryChange:
    """An entry that would be added, changed or removed."""

    section: InstallationSection
    row: Any
    #: The column values before and after; None if there is no entry.
    before: Mapping[str, Json] | None
    after: Mapping[str, Json] | None
    form: Any = None

    def __str__(self) -> str:
        name = self.section.describe_name(self.after or self.before or {})
        if self.before is None:
            return f"+ {name}"
        if self.after is None:
            return f"- {name}"
        changed = ", ".join(column for column in self.after if self.after[column] != self.before[column])
        return f"~ {name} (changed: {changed})"

    def make(self, author: str) -> str:
        """Store or remove the entry; returns the secret of a new one, or blank."""
        section, row, secret = self.section, self.row, ""
        section.before_change(row, author)
        if self.after is None:
            section.remove(row)
            return ""
        secret = section.add(row) if self.before is None else section.change(row)
        self.form._save_m2m()
        return secret


#: The values that identify an entry: those of `within`, then its name.
_Key = tuple[str, ...]


class SectionPlan:
    """What a section of a file would change, and what is wrong with its entries."""

    def __init__(self, title: str, entries: Sequence[FileRow], mode: ImportMode) -> None:
        self.title, self._section = title, list_sections()[title]
        self.changes, self.problems = list[EntryChange](), list[str]()
        self._keys = {column: list_keys() for column, list_keys in (self._section.links or {}).items()}
        self._identity = (*self._section.within, self._section.name)
        #: The rows that are here, by what identifies them.
        self._rows = dict[_Key, list[Any]]()
        for row in self._section.list_rows():
            key = tuple(self._section.get_value(row, column) for column in self._identity)
            self._rows.setdefault(key, []).append(row)
        #: The first entry of each related row, for comparison with the others.
        self._first_entries = dict[_Key, FileRow]()
        named = set[_Key]()
        for entry in entries:
            key = self._read_key(entry)
            if key in named:
                self.problems.append(f"{entry.where}: {self._describe_key(key)!r} occurs twice.")
            elif key:
                self._plan_entry(entry, key)
                named.add(key)
        if mode is ImportMode.REPLACE:
            gone = [row for key, same in self._rows.items() if key not in named for row in same]
            self.changes += [EntryChange(self._section, row, self.describe_row(row), None) for row in gone]

    def _read_key(self, entry: FileRow) -> _Key:
        """What identifies an entry; empty after a problem."""
        key = {column: self._read_value(column, entry) for column in self._identity}
        missing = [column for column, value in key.items() if not isinstance(value, str) or not value]
        self.problems += [f"{entry.where}: {column} is missing." for column in missing]
        return () if missing else tuple(map(str, key.values()))

    def _describe_key(self, key: _Key) -> str:
        return self._section.describe_name(dict(zip(self._identity, key, strict=True)))

    def _read_value(self, column: str, entry: FileRow) -> Any:
        """The value of a column; a missing one has its default."""
        return entry.values[column] if column in entry.values else self._section.get_field(column).get_default()

    def _plan_entry(self, entry: FileRow, key: _Key) -> None:
        """Add the change that an entry makes, if any, or its problems."""
        same = self._rows.get(key, [])
        problems = [*self._check_shape(entry), *self._check_related(entry, key)]
        if len(same) > 1:
            problems.append(f"{entry.where}: {len(same)} entries are called {self._describe_key(key)!r} here.")
        if problems:
            self.problems += problems
            return
        row = same[0] if same else None
        before = self.describe_row(row) if row else None
        form = self._section.form_class(data={}, instance=row or self._section.model())
        form.data = {
            column: form.fields[column].prepare_value(self._fill(column, entry)) for column in self._section.columns
        }
        if not form.is_valid():
            texts = [f"{entry.where}: {column}: {' '.join(texts)}" for column, texts in form.errors.items()]
            self.problems += texts
            return
        after = self.describe_row(form.instance, form.cleaned_data)
        if after != before:
            self.changes.append(EntryChange(self._section, form.instance, before, after, form))

    def _check_shape(self, entry: FileRow) -> Iterator[str]:
        """A problem for each unknown column of an entry, for each linked name that does not exist, and for no list."""
        for column in entry.values.keys() - set(self._section.columns):
            yield f"{entry.where}: there is no {column!r}.{did_you_mean(column, self._section.columns)}"
        for column, keys in self._keys.items():
            names = entry.values.get(column, [])
            if not isinstance(names, list):
                yield f"{entry.where}: {column} must be a list of names."
                continue
            for name in names:
                if not isinstance(name, str) or name not in keys:
                    yield f"{entry.where}: {column}: {name!r} does not exist.{did_you_mean(str(name), keys)}"

    def _check_related(self, entry: FileRow, key: _Key) -> Iterator[str]:
        """A problem for each column of a related row that an earlier entry of that row has otherwise."""
        first = self._first_entries.setdefault(key[:-1], entry)
        for column in self._section.paths.keys() - set(self._identity):
            value, other = self._read_value(column, entry), self._read_value(column, first)
            if value != other:
                row = " / ".join(key[:-1])
                yield f"{entry.where}: {column} of {row} is {value!r}, but {other!r} in {first.where}. Use one value."

    def _fill(self, column: str, entry: FileRow) -> Any:
        """The value of a column for the form, which reads numbers as texts."""
        if column in self._keys:
            return [self._keys[column][name] for name in entry.values.get(column, [])]
        value, field = self._read_value(column, entry), self._section.get_field(column)
        is_text = type(value) in (int, float) or (type(value) is dict and not isinstance(field, JSONField))
        return str(value) if is_text else value

    def describe_row(self, row: Any, cleaned: Mapping[str, Any] | None = None) -> Mapping[str, Json]:
        """A row as an entry of a file; with `cleaned`, the links of the row as its form was filled in."""
        entry: dict[str, Json] = {}
        for column in self._section.columns:
            if column in self._keys:
                keys = {other.pk for other in (cleaned[column] if cleaned else getattr(row, column).all())}
                entry[column] = sorted(name for name, key in self._keys[column].items() if key in keys)
            else:
                entry[column] = _encode_json(self._section.get_value(row, column))
        return entry

    def describe(self) -> Iterator[str]:
        """The changes, line by line."""
        if self.changes:
            yield f"{self.title}: {len(self.changes)} to change"
            yield from (f"  {change}" for change in self.changes)

    def apply(self, author: str) -> dict[str, str]:
        """Make the changes, and return the secrets of new entries."""
        made = {str(change): change.make(author) for change in self.changes}
        return {text.removeprefix("+ "): secret for text, secret in made.items() if secret}


def _encode_json(value: Any) -> Json:
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return sorted(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value


def export_sections() -> dict[str, Json]:
    exported: dict[str, Json] = {}
    for title, section in list_sections().items():
        plan = SectionPlan(title, (), ImportMode.UPDATE)
        entries = [plan.describe_row(row) for row in section.list_rows()]
        exported[title] = sorted(
            (
                {name: value for name, value in entry.items() if not section.is_left_out(name, value)}
                for entry in entries
            ),
            key=lambda entry: [str(entry[column]) for column in (*section.within, section.name)],
        )
    return exported
