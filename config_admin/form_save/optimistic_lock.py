"""Notice that a row changed during editing, and who changed it (tables 1.8)."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from django.utils import formats, timezone

from config_admin.releases.blobs import batches, canonical, hash_of
from config_admin.releases.content import content_of
from config_admin.releases.models import CeRelease
from config_admin.releases.queries import NoSuchRelease, row_at
from config_admin.releases.tree import Content


class SeenVersion(NamedTuple):
    """What an editor saw: the row's content, and the release in force when the form was made."""

    config_version: int
    content: str

    @classmethod
    def of(cls, instance: Any, config_version: int) -> "SeenVersion":
        """The present stored row."""
        return cls(config_version, digest_of(content_of(instance)))

    @classmethod
    def parse(cls, text: str) -> "SeenVersion":
        """Parse what a form sent back; an invalid text matches nothing."""
        version, _, content = text.partition("-")
        return cls(int(version) if version.isdecimal() else 0, content)

    def __str__(self) -> str:
        return f"{self.config_version}-{self.content}"


class Intruder(NamedTuple):
    """Somebody else's change of the row: its author, its time, and its release, if any."""

    who: str
    when: str
    config_version: int | None


def intruder(instance: Any) -> Intruder:
    """The last change of a row."""
    return next(changed_by(type(instance), instance.pk, 0), Intruder("somebody", format_moment(timezone.now()), None))


def changed_by(model: Any, pk: Any, after: int) -> Iterator[Intruder]:
    """The authors of a row's changes in releases after one, latest first, also for a deleted row. Two queries."""
    entries = model.history.filter(**{model._meta.pk.attname: pk}, config_version__gt=after)
    changes = list(entries.order_by("-history_id").values_list("config_version", "history_date")[:20])
    releases = CeRelease.objects.in_bulk([version for version, _ in changes])
    for version, moment in changes:
        release = releases[version]
        yield Intruder(release.author or release.get_origin_display(), format_moment(moment), version)


def last_changes(model: Any, pks: Collection[Any]) -> dict[Any, Intruder]:
    """The last changes of rows, also of deleted ones. Two queries per batch."""
    key, intruders = model._meta.pk.attname, {}
    for batch in batches(pks):
        entries = model.history.filter(**{f"{key}__in": batch}).order_by("history_id")
        newest = {
            pk: (version, moment) for pk, version, moment in entries.values_list(key, "config_version", "history_date")
        }
        releases = CeRelease.objects.in_bulk({version for version, _ in newest.values()})
        for pk, (version, moment) in newest.items():
            release = releases[version]
            intruders[pk] = Intruder(release.author or release.get_origin_display(), format_moment(moment), version)
    return intruders


def find_seen_content(instance: Any, seen: SeenVersion) -> Content | None:
    """The row as an editor saw it; null when no release has it."""
    try:
        content = row_at(seen.config_version, instance._meta.db_table, instance.pk) if seen.config_version else None
    except NoSuchRelease:
        return None
    return content if content is not None and digest_of(content) == seen.content else None


def digest_of(content: Content) -> str:
    """A digest of a row's content."""
    return hash_of(canonical(content))[:16]


def format_moment(moment: Any) -> str:
    return formats.date_format(timezone.localtime(moment), "DATETIME_FORMAT")
