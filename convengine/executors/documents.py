"""The executor of group DOCUMENT_RETRIEVAL: a search in the document store (pipeline-2 3.2)."""

from collections.abc import Mapping
from typing import Any

from convengine.domain import settings
from convengine.domain.catalogue.executors import DOCUMENT_COLLECTIONS
from convengine.domain.ports import ToolAnswer
from convengine.domain.stages import Stage
from convengine.executors import document_store
from convengine.executors.job import Job
from convengine.tools.fault import ToolFault

Json = Any
_MOST = 20


def run(job: Job) -> ToolAnswer:
    """`{documents: [{id, title, collection, excerpt, score, metadata}], count}`. Raises ToolFault INVALID_ARGS.

    Arguments: `query`; `collection`, one name or a list; `limit`, 5 when it is not given.
    """
    query, limit = job.args.get("query"), job.args.get("limit", 5)
    if not isinstance(query, str) or not query.strip():
        raise ToolFault("INVALID_ARGS", "query must be a text: what is sought.")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MOST:
        raise ToolFault("INVALID_ARGS", f"limit must be a whole number from 1 to {_MOST}.")
    collections, told = _mounted(job, _collections(job))
    found = document_store.search(query, job.workspace, collections, limit)
    documents = [
        {
            "id": one.document.pk,
            "title": one.document.title,
            "collection": one.document.collection.name,
            "excerpt": one.excerpt,
            "score": one.score,
            "metadata": one.document.metadata,
        }
        for one in found
    ]
    return ToolAnswer({"documents": documents, "count": len(documents)}, told=told)


def _mounted(job: Job, collections: tuple[str, ...]) -> tuple[tuple[str, ...], Mapping[str, Mapping[str, Json]]]:
    """The session's own collection, where the call names none; without it when it is gone or not the tool's to see."""
    mounted = job.session.mounted_kb_id
    if mounted is None or job.args.get("collection"):
        return collections, {}
    if (not collections or mounted in collections) and document_store.is_there(job.workspace, mounted):
        return (mounted,), {}
    reason = "The collection is out of date, gone, or not one that this tool searches."
    return collections, {Stage.KB_UNAVAILABLE.value: {"knowledgeBase": mounted, "reason": reason}}


def _collections(job: Job) -> tuple[str, ...]:
    """What the call names, of what the tool may see; all that it may see when the call names none."""
    said = job.args.get("collection")
    asked = (said,) if isinstance(said, str) else tuple(said or ())
    known = settings.read(job.snapshot, DOCUMENT_COLLECTIONS, job.tool_code).value
    refused = [name for name in asked if known and name not in known]
    if refused:
        raise ToolFault("COLLECTION_REFUSED", f"This tool searches {', '.join(known)}, not {refused[0]}.")
    return asked or tuple(known)
