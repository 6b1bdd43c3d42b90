"""Remove classifiers and vectors that no configuration in use needs. Any of them can be made again."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import QuerySet

from convengine.engine.documents.index import get_document_index
from convengine.engine.turn.job import Counts, Job, Nightly, Retention
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.engine.understanding.phrases.models import name_vector
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import named_configurations
from convengine.server.phrase_models.models import CePhraseModel, CePhraseVector

#: What a run of today has used is kept for the next one.
KEPT = timedelta(days=1)
_ROWS = 1000


def remove_old() -> Iterator[Counts]:
    models, vectors, before = set[str](), set[str](), database_time() - KEPT
    for name in named_configurations().list_in_use():
        try:
            snapshot = named_configurations().read(name)
            book = get_phrase_book(snapshot)
        except LookupError:
            # A draft that was published meanwhile.
            continue
        models.add(book.model_name)
        vectors |= {name_vector(text, book.content.encoder) for text in book.list_texts()}
        vectors |= get_document_index(snapshot).list_vector_names()
    yield from _remove("classifiers", CePhraseModel.objects.filter(used_at__lt=before), models)
    yield from _remove("vectors", CePhraseVector.objects.filter(made_at__lt=before), vectors)


def _remove(kind: str, old: QuerySet[CePhraseModel] | QuerySet[CePhraseVector], used: set[str]) -> Iterator[Counts]:
    names = sorted(set(old.values_list("name", flat=True)) - used)
    for start in range(0, len(names), _ROWS):
        count, _ = old.filter(name__in=names[start : start + _ROWS]).delete()
        yield {kind: count}


JOB = Job(
    "old_classifiers",
    "Remove classifiers that are not used",
    "Removes classifiers and vectors of phrases that no live configuration or draft needs, a day after their last use.",
    Nightly(4),
    remove_old,
    removes=[Retention(["ce_phrase_models.CePhraseModel", "ce_phrase_models.CePhraseVector"], KEPT, "not in use")],
)
