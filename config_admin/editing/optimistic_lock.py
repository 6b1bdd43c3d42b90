"""The version of a row that an editor saw; `edit_conflict` compares it with the row when that is saved."""

from typing import Any, NamedTuple

from config_admin.releases.blobs import canonical, hash_of
from config_admin.releases.content import content_of
from config_admin.releases.queries import NoSuchRelease, row_at
from config_admin.releases.tree import Content
from convengine.engine.text.whole_numbers import parse_whole_number


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
        return cls(parse_whole_number(version) or 0, content)

    def __str__(self) -> str:
        return f"{self.config_version}-{self.content}"


def find_seen_content(instance: Any, seen: SeenVersion) -> Content | None:
    """The row as an editor saw it. Returns None when no release has it."""
    try:
        content = row_at(seen.config_version, instance._meta.db_table, instance.pk) if seen.config_version else None
    except NoSuchRelease:
        return None
    return content if content is not None and digest_of(content) == seen.content else None


def digest_of(content: Content) -> str:
    """A digest of a row's content."""
    return hash_of(canonical(content))[:16]
