"""Erase the tests that were made of a conversation, and find those that may quote it: an empty test stays."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import replace

from django.utils import timezone

from config_admin.releases.blobs import canonical, hash_of
from config_admin.test_cases.documents import build_full_document, find_free_name, rename_in_notes
from config_admin.test_cases.gate import read_gate_tags
from config_admin.test_cases.models import CeTestCase, CeTestCaseTag, CeTestRun
from config_admin.test_cases.runs import SelectedTests

_EMPTY = {"turns": list[object]()}
#: In place of a folder or a tag that runs chose.
_ERASED = "erased"


def list_titles(conversations: Collection[uuid.UUID]) -> list[str]:
    """The titles of the tests that were made of these conversations; erased ones have no other words left."""
    tests = CeTestCase.objects.filter(conversation_id__in=conversations).order_by("title", "pk")
    return list(tests.values_list("title", flat=True))


def erase_tests(conversation_id: uuid.UUID, by: str) -> Sequence[int]:
    """Erase the tests of a conversation; returns their numbers. Needs an open transaction.

    Title and name often quote a message. Results have messages and answers, and the hash of the document. A folder or
    a tag stays if it says nothing about the person: another test has it, or the gate asks for it.
    """
    tests = CeTestCase.objects.select_for_update().filter(conversation_id=conversation_id, erased_at=None)
    cases = list(tests.order_by("pk"))
    others = CeTestCase.objects.filter(erased_at=None).exclude(pk__in=[case.pk for case in cases])
    folders = set(others.values_list("folder", flat=True))
    tags = {*others.values_list("tags__tag", flat=True), *read_gate_tags()}
    for case in cases:
        title = f"Erased test {case.pk}"
        rename_in_notes(case.title, title)
        case.title, case.name, case.why = title, find_free_name(f"erased-{case.pk}"), ""
        case.folder = case.folder if case.folder in folders else ""
        case.document, case.document_hash = _EMPTY, hash_of(canonical(_EMPTY))
        case.erased_at = case.changed_at = timezone.now()
        case.changed_by = by[:150]
        case.save()
        case.tags.exclude(tag__in=tags).delete()
        case.results.all().delete()
    if cases:
        _forget_selections()
    return [case.pk for case in cases]


def _forget_selections() -> None:
    """Runs name no folder and no tag that no test has any more."""
    folders = set(CeTestCase.objects.values_list("folder", flat=True))
    tags = set(CeTestCaseTag.objects.values_list("tag", flat=True))
    for run in CeTestRun.objects.exclude(selection={}):
        chosen = SelectedTests.read(run.selection)
        is_known = any(f"{folder}/".startswith(f"{chosen.folder}/") for folder in folders)
        folder = chosen.folder if is_known or not chosen.folder else _ERASED
        present = replace(chosen, folder=folder, tags=[tag if tag in tags else _ERASED for tag in chosen.tags])
        if present != chosen:
            run.selection = present.as_json()
            run.save(update_fields=["selection"])


def find_tests_with(texts: Collection[str]) -> Sequence[int]:
    """The tests that have one of these texts, such as a stub answer taken from a conversation."""
    if not texts:
        return []
    tests = CeTestCase.objects.filter(erased_at=None).prefetch_related("tags").order_by("pk")
    # Everything that somebody wrote in a test, as one text.
    written = (
        (case.pk, canonical([build_full_document(case), case.folder]).decode())
        for case in tests.iterator(chunk_size=100)
    )
    return [pk for pk, whole in written if any(text in whole for text in texts)]
