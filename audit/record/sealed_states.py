"""Note how rows change that may change, and list the tables that have such rows."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.apps import apps
from django.db.models import QuerySet

from audit.models import CeSealedState
from convengine.engine.turn.codec import dump_in_order
from convengine.server.database.signed_rows import encode_value
from convengine.server.database.sql import database_time
from convengine.server.database.unreadable import UNREADABLE, iterate_values
from convengine.server.interfaces.sealed_states import SealedStateModel


def list_models() -> Sequence[type[SealedStateModel]]:
    """The tables whose rows are sealed each time they change."""
    return [model for model in apps.get_models() if issubclass(model, SealedStateModel)]


def hash_rows(rows: QuerySet[Any]) -> Iterator[tuple[str, str]]:
    """The key and the hash of the sealed columns of each row; UNREADABLE if a value cannot be read."""
    names = rows.model.SEALED
    for row in iterate_values(rows, *names):
        if row.keys() >= set(names):
            (encoded,) = dump_in_order([[encode_value(row[name]) for name in names]])[1]
            yield str(row["pk"]), hashlib.sha256(encoded).hexdigest()
        else:
            yield str(row["pk"]), UNREADABLE


def lock_states(model: type[SealedStateModel], keys: Iterable[Any]) -> dict[str, str]:
    """The hashes of stored rows by key. Locks the rows until the open transaction ends."""
    return dict(hash_rows(model._default_manager.filter(pk__in=list(keys)).select_for_update()))


def note_change(model: type[SealedStateModel], before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Seal what rows were and what they became, as `lock_states` gives it; nothing if no row changed.

    Needs an open transaction.
    """
    pairs = {key: (before.get(key), after.get(key)) for key in {**before, **after}}
    hashes = {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
    if hashes:
        CeSealedState.objects.create(created_at=database_time(), table_name=model._meta.db_table, hashes=hashes)
