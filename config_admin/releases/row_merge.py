"""Merge two changes of one row, field by field: those of a draft or a file, and those made since then."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from config_admin.releases.tree import Content, has_same_text
from config_admin.validation.stored_columns import EXTRA_COLUMNS
from convengine.json_value import Json


class RowMerge(NamedTuple):
    """One row before both changes, as it is today, and as the draft or file wants it.

    Returns None where it does not exist.
    """

    before: Mapping[str, Json] | None
    now: Mapping[str, Json] | None
    after: Content | None

    def has_conflict(self) -> bool:
        """True when one side deletes the row and the other changes it, or both change a field differently."""
        return self.has_deleted_side() or any(True for _ in self.find_fields())

    def has_deleted_side(self) -> bool:
        """True when exactly one side deletes the row, and the other changes it."""
        if has_same_text(self.now, self.before) or has_same_text(self.now, self.after):
            return False
        return self.after is None or self.now is None

    def find_fields(self) -> Iterator[str]:
        """The fields that both sides changed differently; none if one side deleted the row or nothing changed today."""
        if self.after is None or self.now is None or has_same_text(self.now, self.before):
            return
        before = self._read_origin(self.now)
        for name, value in self.after.items():
            own, old = self.now.get(name), before.get(name)
            if not any(has_same_text(*pair) for pair in ((value, own), (value, old), (own, old))):
                yield name

    def merge_changes(self, *, prefer_now: bool = False) -> Content | None:
        """Today's row with the changes of the draft or file, which wins in a conflict, unless `prefer_now`.

        Returns None if the side that wins has no row.
        """
        if self.after is None or self.now is None:
            preferred = self.now if prefer_now else self.after
            return None if preferred is None else dict(preferred)
        before, contested = self._read_origin(self.after), set(self.find_fields()) if prefer_now else set()
        return {
            name: own
            if name in contested or (name in before and has_same_text(self.after[name], before[name]))
            else self.after[name]
            for name, own in self.now.items()
        }

    def _read_origin(self, added: Mapping[str, Json]) -> Mapping[str, Json]:
        """The row before both changes. If both sides added it, its time of creation is nobody's decision."""
        if self.before is not None:
            return self.before
        return {name: added[name] for name in EXTRA_COLUMNS if name in added}
