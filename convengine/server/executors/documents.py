"""The executor of group DOCUMENT_RETRIEVAL: a search in the document store."""

from collections.abc import Mapping

from convengine.engine.steps.tools.stages import KB_UNAVAILABLE
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn import live_settings
from convengine.engine.turn.ports import ToolAnswer
from convengine.json_value import Json
from convengine.server.executors import document_store
from convengine.server.executors.job import ToolJob
from convengine.server.executors.settings import DOCUMENT_COLLECTIONS

_MOST = 20


def run(job: ToolJob) -> ToolAnswer:
    """`{documents: [{id, title, collection, excerpt, score, metadata}], count}`.

    Arguments: `query`; `collection`, one name or a list; `limit`, default 5.
    Raises ToolFault INVALID_ARGS, and COLLECTION_REFUSED for a collection that the tool may not search.
    """
    query, limit = job.args.get("query"), job.args.get("limit", 5)
    if not isinstance(query, str) or not query.strip():
        raise ToolFault("INVALID_ARGS", "query must be a text with the search terms.")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MOST:
        raise ToolFault("INVALID_ARGS", f"limit must be a whole number from 1 to {_MOST}.")
    collections, stage_payloads = _choose_collections(job, _list_requested(job))
    matches = document_store.search(query, job.workspace, collections, limit)
    documents = [
        {
            "id": match.document.pk,
            "title": match.document.title,
            "collection": match.document.collection.name,
            "excerpt": match.excerpt,
            "score": match.score,
            "metadata": match.document.metadata,
        }
        for match in matches
    ]
    return ToolAnswer({"documents": documents, "count": len(documents)}, stage_payloads=stage_payloads)


def _choose_collections(
    job: ToolJob, collections: tuple[str, ...]
) -> tuple[tuple[str, ...], Mapping[str, Mapping[str, Json]]]:
    """The collections to search, and payloads for the audit.

    If the call names no collection, the session's own one is searched instead of the tool's. If that is not possible,
    the tool's are searched, and the payload KB_UNAVAILABLE says why.
    """
    mounted = job.session.mounted_kb_id
    if mounted is None or job.args.get("collection"):
        return collections, {}
    if (not collections or mounted in collections) and document_store.is_there(job.workspace, mounted):
        return (mounted,), {}
    reason = "The collection has expired, does not exist, or is not searched by this tool."
    return collections, {KB_UNAVAILABLE: {"knowledgeBase": mounted, "reason": reason}}


def _list_requested(job: ToolJob) -> tuple[str, ...]:
    """The collections that the call names, else those of the tool; empty for all of the workspace.

    Raises ToolFault COLLECTION_REFUSED for a name that is not among the tool's.
    """
    argument = job.args.get("collection")
    requested = (argument,) if isinstance(argument, str) else tuple(argument or ())
    known = live_settings.read(job.snapshot, DOCUMENT_COLLECTIONS, job.tool_code).value
    refused = [name for name in requested if known and name not in known]
    if refused:
        raise ToolFault("COLLECTION_REFUSED", f"This tool may search only {', '.join(known)}, not {refused[0]}.")
    return requested or tuple(known)
