"""Find the participants of threads by parts of their names, by an index on both databases."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet

from convengine.engine.text.participants import has_all, list_local_terms, list_parts, list_terms
from convengine.server.sessions.models import CeThread, CeThreadPart

#: Maximum examined threads of the longest part, and maximum found participants.
EXAMINED, MOST = 5_000, 50


def find_threads(text: str, workspace: str = "", most: int = MOST) -> list[CeThread]:
    """The threads of the participants with these parts in their names, newest first; the exact name comes first."""
    threads = CeThread.objects.filter(workspace_id=workspace) if workspace else CeThread.objects.all()
    exact = list(threads.filter(remote_jid=text.strip()).order_by("-pk")[:most]) if text.strip() else []
    others = next((matches for matches in _iterate_matches(threads, text) if matches), [])
    known = {thread.pk for thread in exact}
    return [*exact, *(thread for thread in others if thread.pk not in known)][:most]


def find_participants(text: str, workspace: str = "", most: int = MOST) -> list[str]:
    return list(dict.fromkeys(thread.remote_jid for thread in find_threads(text, workspace, most)))


def _iterate_matches(threads: QuerySet[CeThread], text: str) -> Iterator[list[CeThread]]:
    """The threads with all parts; then those with the end of the phone number."""
    for terms in (list_terms(text), list_local_terms(text)):
        if terms:
            parts = CeThreadPart.objects.filter(starts_with("part", terms[0])).values_list("thread_id", flat=True)
            candidates = threads.filter(pk__in=list(parts[:EXAMINED])).order_by("-pk")
            yield [thread for thread in candidates if has_all(thread.remote_jid, terms)]


def starts_with(column: str, prefix: str) -> Q:
    """A condition that the index of the database serves: SQLite compares bytes, PostgreSQL has an operator class."""
    if connection.vendor == "postgresql":
        return Q(**{f"{column}__startswith": prefix})
    return Q(**{f"{column}__gte": prefix, f"{column}__lt": f"{prefix}\U0010ffff"})


def insert_parts(cursor: Any, thread_id: int, participant: str) -> None:
    """Index the name of a new thread's participant."""
    parts: Sequence[str] = list_parts(participant)
    if parts:
        rows = ", ".join(["(%s, %s)"] * len(parts))
        params = [value for part in parts for value in (thread_id, part)]
        cursor.execute(f"INSERT INTO ce_thread_part (thread_id, part) VALUES {rows}", params)
