"""Two people, one row: noticing that it changed while somebody was editing, and saying by whom (tables 1.8)."""

from typing import Any, NamedTuple

from django.utils import formats, timezone

from config_admin.admin.differences import FieldChange, changes
from config_admin.releases.blobs import canonical, hash_of
from config_admin.releases.content import content_of
from config_admin.releases.models import CeRelease
from config_admin.releases.queries import NoSuchRelease, row_at


class Seen(NamedTuple):
    """What an editor has before the eyes: the row's content, and the release in force when the form was made."""

    config_version: int
    content: str

    @classmethod
    def of(cls, instance: Any, config_version: int) -> "Seen":
        """The stored row as it is now."""
        return cls(config_version, hash_of(canonical(content_of(instance)))[:16])

    @classmethod
    def parse(cls, text: str) -> "Seen":
        """Read what a form sent back; nonsense is something that nobody has seen."""
        version, _, content = text.partition("-")
        return cls(int(version) if version.isdecimal() else 0, content)

    def __str__(self) -> str:
        return f"{self.config_version}-{self.content}"


class Intruder(NamedTuple):
    """Somebody else's change of the row."""

    who: str
    when: str
    changes: list[FieldChange]


def intruder(instance: Any, seen: Seen) -> Intruder:
    """Who changed the stored row since it was seen, when, and what."""
    table, now = instance._meta.db_table, content_of(instance)
    entry = instance.history.filter(**{instance._meta.pk.attname: instance.pk}).first()
    release = CeRelease.objects.filter(pk=entry.config_version).first() if entry else None
    who = (release.author or release.get_origin_display()) if release else "somebody"
    moment = timezone.localtime(entry.history_date) if entry else timezone.localtime()
    return Intruder(who, formats.date_format(moment, "DATETIME_FORMAT"), changes(table, _was(instance, seen), now))


def _was(instance: Any, seen: Seen) -> Any:
    try:
        return row_at(seen.config_version, instance._meta.db_table, instance.pk) if seen.config_version else None
    except NoSuchRelease:
        return None
