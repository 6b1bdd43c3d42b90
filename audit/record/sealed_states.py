"""Note the states of rows that may change, and list the tables that have such rows."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.apps import apps

from audit.models import CeSealedState
from audit.seal import encode_value
from convengine.engine.turn.codec import dump_in_order
from convengine.server.database.sql import database_time
from convengine.server.interfaces.sealed_states import SealedStateModel


def list_models() -> Sequence[type[SealedStateModel]]:
    """The tables whose rows are sealed each time they change."""
    return [model for model in apps.get_models() if issubclass(model, SealedStateModel)]


def note_states(model: type[SealedStateModel], changed: Iterable[Any], removed: Iterable[Any] = ()) -> None:
    """Seal the present state of changed rows, and that others were removed. Needs an open transaction."""
    hashes: dict[str, str | None] = dict.fromkeys(map(str, removed))
    rows = model.select_sealed().filter(pk__in=list(changed)).values("pk", *model.SEALED)
    hashes |= {str(row["pk"]): hash_state(model, row) for row in rows}
    if hashes:
        CeSealedState.objects.create(created_at=database_time(), table_name=model._meta.db_table, hashes=hashes)


def hash_state(model: type[SealedStateModel], row: Mapping[str, Any]) -> str:
    """The hash of a row's sealed columns."""
    (encoded,) = dump_in_order([[encode_value(row[name]) for name in model.SEALED]])[1]
    return hashlib.sha256(encoded).hexdigest()
