"""Erase the tests that were made of a conversation: the test stays, so that folders and tags do, without contents."""

import uuid
from collections.abc import Collection, Sequence

from django.utils import timezone

from config_admin.releases.blobs import canonical, hash_of
from config_admin.test_cases.documents import find_free_name, rename_in_notes
from config_admin.test_cases.models import CeTestCase

_EMPTY = {"turns": list[object]()}


def list_titles(conversations: Collection[uuid.UUID]) -> list[str]:
    """The titles of the tests that were made of these conversations; erased ones have no other words left."""
    tests = CeTestCase.objects.filter(conversation_id__in=conversations).order_by("title", "pk")
    return list(tests.values_list("title", flat=True))


def erase_tests(conversation_id: uuid.UUID, by: str) -> Sequence[int]:
    """Erase the tests of a conversation; returns their numbers. Needs an open transaction.

    Title and name often quote a message. Results have messages and answers, and the hash of the document.
    """
    tests = CeTestCase.objects.select_for_update().filter(conversation_id=conversation_id, erased_at=None)
    cases = list(tests.order_by("pk"))
    for case in cases:
        title = f"Erased test {case.pk}"
        rename_in_notes(case.title, title)
        case.title, case.name, case.why = title, find_free_name(f"erased-{case.pk}"), ""
        case.document, case.document_hash = _EMPTY, hash_of(canonical(_EMPTY))
        case.erased_at = case.changed_at = timezone.now()
        case.changed_by = by[:150]
        case.save()
        case.results.all().delete()
    return [case.pk for case in cases]
