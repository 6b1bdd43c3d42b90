"""The history of rows: who made each version, when, why, and in which release."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Case, CharField, F, Max, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from config_admin.releases.blobs import batches
from config_admin.releases.content import content_of
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.release_seal import history_model
from config_admin.releases.tree import Content
from config_admin.validation.stored_columns import control_plane, key_of, to_key
from convengine.server.interfaces.release_history import RowVersion

#: Table and primary key as text.
RowKey = tuple[str, str]


def find_last_versions(rows: Iterable[tuple[str, Any]], until: int | None = None) -> dict[RowKey, RowVersion]:
    """The newest version of rows (table, key), also of deleted ones, or the one that the release `until` has.

    Rows without a history are left out. One query for each five hundred rows.
    """
    in_time = Q() if until is None else Q(config_version__lte=until)
    versions: dict[RowKey, RowVersion] = {}
    for batch in batches(rows):
        queries = []
        for table, pks in _group_keys(batch).items():
            history = history_of(table)
            of_rows = history.filter(in_time, **{f"{key_of(table)}__in": pks})
            last = of_rows.values(key_of(table)).annotate(last=Max("history_id")).values("last")
            queries.append(_select(table, history.filter(history_id__in=last)))
        if queries:
            entries = itertools.starmap(RowVersion, queries[0].union(*queries[1:], all=True))
            versions |= {(each.table, each.pk): each for each in entries}
    return versions


def find_last_version(table: str, pk: Any) -> RowVersion:
    """The newest version of a row; one by somebody, of now, for a row without a history."""
    key = table, str(pk)
    return find_last_versions([key]).get(key) or RowVersion(*key, 0, 0, "", "", timezone.now(), "somebody")


def list_versions_after(table: str, pk: Any, config_version: int) -> list[RowVersion]:
    """The twenty newest versions of a row in the releases after one, the newest first."""
    history = history_of(table).filter(**{key_of(table): pk}, config_version__gt=config_version)
    return list(itertools.starmap(RowVersion, _select(table, history.order_by("-history_id"))[:20]))


def read_versions(versions: Iterable[RowVersion]) -> dict[RowVersion, Content]:
    """The content of versions; of one that deleted its row the last one. One query for each table."""
    by_table: dict[str, dict[int, RowVersion]] = defaultdict(dict)
    for version in versions:
        by_table[version.table][version.history_id] = version
    contents: dict[RowVersion, Content] = {}
    for table, by_id in by_table.items():
        contents |= {by_id[entry.pk]: content_of(entry.instance) for entry in history_of(table).filter(pk__in=by_id)}
    return contents


def read_entries(
    table: str, pk: Any, entries: Sequence[Any]
) -> Iterator[tuple[RowVersion, Content | None, Content | None]]:
    """The versions of successive entries of a row, the newest first, with the content before and after each.

    The entries have `made_by`. The content is None where the row does not exist. One query.
    """
    earlier = history_of(table).filter(**{key_of(table): pk}, history_id__lt=entries[-1].pk).order_by("-history_id")
    states = [None if each.history_type == "-" else content_of(each.instance) for each in (*entries, *earlier[:1])]
    for each, after, before in zip(entries, states, [*states[1:], None], strict=False):
        made = each.config_version, each.history_type, each.history_change_reason or "", each.history_date
        yield RowVersion(table, str(pk), each.pk, *made, each.made_by or ""), before, after


def select_author() -> Subquery:
    """Of an entry of history: who made its release, or where that came from."""
    origin = Case(*(When(origin=each, then=Value(each.label)) for each in Origin))
    author = Case(When(author="", then=origin), default=F("author"), output_field=CharField())
    return Subquery(CeRelease.objects.filter(pk=OuterRef("config_version")).values(made_by=author))


def history_of(table: str) -> QuerySet[Any]:
    """The entries of the history of a table, in no order."""
    return history_model(table)._default_manager.order_by()


def _group_keys(rows: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """The keys by table as their columns have them, without those that no row can have."""
    keys: dict[str, list[Any]] = defaultdict(list)
    for table, pk in rows:
        if table in control_plane():
            with suppress(ValidationError):
                keys[table].append(to_key(table, pk))
    return keys


def _select(table: str, history: QuerySet[Any]) -> QuerySet[Any, tuple[Any, ...]]:
    """The columns of `RowVersion`."""
    return history.values_list(
        Value(table, CharField()),
        Cast(F(key_of(table)), CharField()),
        "history_id",
        "config_version",
        "history_type",
        Coalesce("history_change_reason", Value(""), output_field=TextField()),
        "history_date",
        Coalesce(select_author(), Value(""), output_field=CharField()),
    )
