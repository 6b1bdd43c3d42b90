"""The document store: add documents, and find them by words and by meaning."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from convengine.engine.turn.codec import dumps
from convengine.engine.understanding.encoder import DIMENSIONS, encode_text
from convengine.json_value import Json
from convengine.server.executors.models import LANGUAGE, POSTGRES_TEXT, CeDocument, CeDocumentCollection

_WORD = re.compile(r"\w+")
_MOST_WORDS = 32
#: Words without information for a search.
_COMMON = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "have", "how", "i", "in",
        "is", "it", "me", "my", "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "where", "which",
        "who", "why", "will", "with", "you", "your",
    }
)  # fmt: skip
#: Maximum number of documents compared by meaning; beyond that, words alone decide.
_MOST_COMPARED = 5000
_LEAST_ALIKE = 0.35
_EXCERPT = 600
#: The length of a stored vector.
_BYTES = DIMENSIONS * np.dtype(np.float32).itemsize


@dataclass(frozen=True)
class DocumentMatch:
    """A document with its score from 0 to 1, for ordering only."""

    document: CeDocument
    score: float
    excerpt: str


def put(
    collection: CeDocumentCollection, title: str, body: str, metadata: Mapping[str, Json] | None = None
) -> tuple[CeDocument, bool]:
    """The stored document, and whether anything changed. A document of the same title is replaced."""
    made = CeDocument(collection=collection, title=title, body=body, metadata=dict(metadata or {}))
    with transaction.atomic():
        old = CeDocument.objects.filter(collection=collection, title=title).first()
        if old is not None and len(old.vector) == _BYTES and old.hash == digest(made):
            return old, False
        made.pk = old.pk if old else None
        made._state.adding = old is None
        finish(made)
        made.save()
    return made, True


def finish(document: CeDocument) -> None:
    """Set the derived fields of a document: digest, vector, time."""
    document.hash = digest(document)
    document.vector = encode_text(f"{document.title}\n{document.body[:2000]}").tobytes()
    document.updated_at = timezone.now()


def digest(document: CeDocument) -> str:
    """A digest of the editable fields."""
    return hashlib.sha256(dumps([document.title, document.body, document.metadata]).encode()).hexdigest()


def search(query: str, workspace: str, collections: Sequence[str] = (), limit: int = 5) -> list[DocumentMatch]:
    """The best documents of these collections of a workspace, best first; without names, of all its collections.

    Expired collections are not searched. Ranks by words and by meaning are added.
    """
    words = list(dict.fromkeys(word for word in _WORD.findall(query.lower()) if word not in _COMMON))[:_MOST_WORDS]
    among = _find_collection_ids(workspace, collections)
    by_words = _by_words(among, words, limit * 4) if words and among else []
    by_meaning = _by_meaning(among, query, limit * 4) if among else []
    ranks: dict[int, float] = {}
    for ranking in (by_words, by_meaning):
        for rank, pk in enumerate(ranking):
            ranks[pk] = ranks.get(pk, 0.0) + 1 / (rank + 1)
    best = sorted(ranks, key=lambda pk: (-ranks[pk], pk))[:limit]
    documents = CeDocument.objects.select_related("collection").defer("vector").in_bulk(best)
    most = 2.0 if by_meaning else 1.0
    return [
        DocumentMatch(documents[pk], round(ranks[pk] / most, 4), excerpt(documents[pk].body, words))
        for pk in best
        if pk in documents
    ]


def is_there(workspace: str, collection: str) -> bool:
    return bool(_find_collection_ids(workspace, [collection]))


def _find_collection_ids(workspace: str, collections: Sequence[str]) -> list[int]:
    """The keys of these collections of a workspace, or of all of them without names; expired ones are left out."""
    alive = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    rows = CeDocumentCollection.objects.filter(alive, workspace_id=workspace)
    rows = rows.filter(name__in=list(collections)) if collections else rows
    return list(rows.values_list("collection_id", flat=True))


def _by_words(collections: Sequence[int], words: Sequence[str], limit: int) -> list[int]:
    """The keys of documents with at least one of the words, best first."""
    marks = ", ".join(["%s"] * len(collections))
    if connection.vendor == "postgresql":
        sql = (
            f"SELECT document_id FROM ce_document, to_tsquery('{LANGUAGE}', %s) AS sought"
            f" WHERE {POSTGRES_TEXT} @@ sought AND collection_id IN ({marks})"
            f" ORDER BY ts_rank_cd({POSTGRES_TEXT}, sought, 32) DESC, document_id LIMIT %s"
        )
        sought = " | ".join(words)
    else:
        sql = (
            "SELECT d.document_id FROM ce_document_text t JOIN ce_document d ON d.document_id = t.rowid"
            f" WHERE ce_document_text MATCH %s AND d.collection_id IN ({marks})"
            " ORDER BY bm25(ce_document_text, 5.0, 1.0), d.document_id LIMIT %s"
        )
        sought = " OR ".join(f'"{word}"' for word in words)
    with connection.cursor() as cursor:
        cursor.execute(sql, [sought, *collections, limit])
        return [row[0] for row in cursor.fetchall()]


def _by_meaning(collections: Sequence[int], query: str, limit: int) -> list[int]:
    """The keys of documents with a similar meaning, best first.

    Returns none where more documents than `_MOST_COMPARED` would have to be compared, or none has a vector.
    """
    documents = CeDocument.objects.filter(collection_id__in=collections)
    listed = list(documents.values_list("document_id", "vector")[: _MOST_COMPARED + 1])
    # Documents of before have vectors of another encoder until they are loaded again.
    stored = [(pk, bytes(vector)) for pk, vector in listed if len(vector) == _BYTES]
    if not stored or len(listed) > _MOST_COMPARED:
        return []
    table = np.frombuffer(b"".join(vector for _, vector in stored), np.float32).reshape(-1, DIMENSIONS)
    # The cosine of the query with each.
    scores = map(float, table @ encode_text(query))
    ranked = sorted(zip(scores, (pk for pk, _ in stored), strict=True), key=lambda pair: (-pair[0], pair[1]))
    return [pk for score, pk in ranked[:limit] if score >= _LEAST_ALIKE]


def excerpt(body: str, words: Sequence[str]) -> str:
    """The part of a text that has most of the words, each counted where it first occurs; its beginning without any."""
    if len(body) <= _EXCERPT:
        return body
    lowered = body.lower()
    offsets = sorted(offset for word in words if (offset := lowered.find(word)) >= 0)
    best = max(offsets, key=lambda offset: sum(offset <= other < offset + _EXCERPT for other in offsets), default=0)
    start = max(0, best - 80)
    cut = body[start : start + _EXCERPT]
    return f"{'…' if start else ''}{cut}{'…' if start + _EXCERPT < len(body) else ''}"
