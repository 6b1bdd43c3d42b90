"""What an export contains of other installations, and how an import finds the newest of it that is known here.

An export lists the contents of its releases and of the exports that were imported into them, newest first. An import
stores the content of a whole export, so that the next one is merged from there, in both directions. A row that is new
in both installations may have the same number in both; the list and the store say which rows have another number.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Q

from config_admin.releases import tree
from config_admin.releases.blobs import Blobs
from config_admin.releases.head import newest
from config_admin.releases.models import CeRelease, CeReleaseSource
from config_admin.releases.queries import manifest_of
from config_admin.releases.working_copy import find_working_copy, write_outside
from config_admin.transfer.document import Ancestor, BaseRelease, Document, Numbers, read_numbers
from config_admin.transfer.natural_keys import Contents
from config_admin.validation.stored_columns import control_plane
from convengine.engine.cached_property import cached_property

#: How many releases an export lists.
MOST_RELEASES = 1000
#: Characters of a hash that name a content in a file.
_PREFIX = 16


class MergeBase:
    """The content from which changes of a file are judged, with the numbers of this installation.

    `in_file`, `stored`: the numbers of the file, and those of this installation, by those of the content; where they
    differ.
    """

    def __init__(self, config_version: int, contents: Contents, in_file: Numbers, stored: Numbers) -> None:
        #: The release of this installation that has or contains it.
        self.config_version, self.contents = config_version, contents
        self._in_file, self._stored = in_file, stored

    @cached_property
    def _originals(self) -> Numbers:
        return {table: {new: old for old, new in numbers.items()} for table, numbers in self._in_file.items()}

    def find_row(self, table: str, number: Any) -> Any:
        """The number in this installation of a row of the file. Returns None when the row is newer than the base."""
        original = _map_number(number, self._originals.get(table, {}))
        stored = _map_number(original, self._stored.get(table, {}))
        return stored if stored in self.contents[table] else None


def _map_number(number: Any, numbers: Mapping[int, int]) -> Any:
    """The other number of a row; its own if they do not differ.

    Returns None if its own number is the other number of another row.
    """
    if number in numbers:
        return numbers[number]
    return None if number in numbers.values() else number


def find_release(base: BaseRelease) -> int | None:
    """The release here with the content of a base: that of its number, else the newest.

    Returns None if there is none.
    """
    same = CeRelease.objects.filter(content_hash=base.content)
    numbers = set(same.order_by("-pk").values_list("pk", flat=True)[:100])
    return base.release if base.release in numbers else max(numbers, default=None)


def find_base(document: Document) -> MergeBase | None:
    """The newest content that the file comes from and that is known here. Returns None if there is none."""
    if document.base is None:
        return None
    if (own := find_release(document.base)) is not None:
        return MergeBase(own, read_contents(manifest_of(own)), {}, {})
    releases = {
        content[:_PREFIX]: pk for pk, content in CeRelease.objects.order_by("pk").values_list("pk", "content_hash")
    }
    # What was imported into releases, and into the open draft; of equal contents the newest counts.
    copy = find_working_copy()
    of_draft = Q(draft_id=copy.draft_id, config_version=None) if copy and copy.draft_id else Q(pk=None)
    imported = CeReleaseSource.objects.filter(Q(config_version__isnull=False) | of_draft).order_by("pk")
    sources = {source.content_hash[:_PREFIX]: source for source in imported}
    for ancestor in document.ancestors or [Ancestor(document.base.content)]:
        key = ancestor.content[:_PREFIX]
        if key in releases:
            version = releases[key]
            return MergeBase(version, read_contents(manifest_of(version)), ancestor.numbers, {})
        if source := sources.get(key):
            numbers = read_numbers(source.numbers)
            return MergeBase(source.config_version or 0, read_contents(source.manifest), ancestor.numbers, numbers)
    return None


def read_contents(manifest: Mapping[str, str], blobs: Blobs | None = None) -> dict[str, dict[Any, tree.Content]]:
    """All rows of a manifest by table and key."""
    blobs = blobs or Blobs()
    return {
        table: dict(tree.rows_of(blobs, table, tree.index_of(blobs, manifest.get(table)))) for table in control_plane()
    }


def list_ancestors(config_version: int) -> Iterator[Ancestor]:
    """The contents of the releases up to this one, and of what was imported into them; newest first."""
    sources: dict[int, list[CeReleaseSource]] = {}
    for source in CeReleaseSource.objects.filter(config_version__lte=config_version).order_by("-pk"):
        sources.setdefault(source.config_version or 0, []).append(source)
    releases = CeRelease.objects.filter(pk__lte=config_version).order_by("-pk").values_list("pk", "content_hash")
    seen: set[str] = set()
    for version, content in releases[:MOST_RELEASES]:
        known = [Ancestor(source.content_hash, read_numbers(source.numbers)) for source in sources.get(version, ())]
        for ancestor in [Ancestor(content), *known]:
            if ancestor.content not in seen:
                seen.add(ancestor.content)
                yield ancestor._replace(content=ancestor.content[:_PREFIX])


def store_source(base: BaseRelease, theirs: Contents, numbers: Mapping[tuple[str, int], int]) -> None:
    """Store what was imported into the newest release or the open draft, unless it came from here."""
    if find_release(base) is not None:
        return
    blobs = Blobs()
    roots = {table: tree.build(blobs, table, theirs[table].values()) for table in control_plane()}
    by_table: dict[str, dict[str, int]] = {}
    for (table, number), other in sorted(numbers.items()):
        by_table.setdefault(table, {})[str(number)] = other
    copy = find_working_copy()
    source = CeReleaseSource(
        draft_id=copy.draft_id if copy else None,
        config_version=None if copy else newest(),
        content_hash=base.content,
        manifest={table: root for table, root in roots.items() if root},
        numbers=by_table,
    )
    write_outside(blobs.write)
    write_outside(source.save)
