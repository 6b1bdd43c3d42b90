"""Tests as scenario files, and back."""

import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse

from config_admin.test_cases.documents import TestRefused, build_full_document, check_document, store_test
from config_admin.test_cases.models import CeTestCase
from convengine.files import Unreadable
from convengine.files.apart import read_apart
from convengine.files.archive import unpack
from convengine.files.table_text import decode
from convengine.play.loading import SUFFIXES, dump_yaml, parse_yaml
from convengine.play.schema import ScenarioFileError

FILE_ACCEPT = ".yaml,.yml,.json,.zip"
#: Bytes of one file and of all files of an import, and files of an import.
_LARGEST, LARGEST_IMPORT, _MOST = 2_000_000, 64_000_000, 10_000


@dataclass
class ImportReport:
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    #: The file, and why.
    refused: list[tuple[str, str]] = field(default_factory=list)
    #: How many files named a configuration file, which a test does not have.
    without_configuration: int = 0

    @property
    def test_names(self) -> list[str]:
        """The names of the tests that were added or changed."""
        return [*self.added, *self.changed]

    def store(self, document: dict[str, Any], case: CeTestCase | None, *, editor: str, folder: str) -> None:
        """Store a test, or change `case`, which stays in its folder unless one is named. Raises TestRefused."""
        changed_at = case.changed_at if case else None
        stored = store_test(document, editor=editor, folder=folder or (case.folder if case else ""), case=case)
        if stored.changed_at != changed_at:
            (self.changed if case else self.added).append(stored.name)

    def describe(self) -> str:
        """How many were added and changed, in words."""
        counts = f"{len(self.added)} added, {len(self.changed)} changed" if self.test_names else "Nothing changed"
        if not self.without_configuration:
            return counts
        return (
            f"{counts}. {self.without_configuration} named a configuration file, which was left out: a test runs on "
            "the configuration that you choose"
        )


def import_files(
    files: Sequence[tuple[str, bytes]], *, editor: str, folder: str = "", may_change: bool = True
) -> ImportReport:
    """Store the tests of scenario files and archives. A test of the same name is changed, if the editor may do that."""
    report = ImportReport()
    size = 0
    for count, (name, data) in enumerate(_open_archives(files, report)):
        size += len(data)
        if size > LARGEST_IMPORT:
            report.refused.append((name, f"an import takes at most {LARGEST_IMPORT // 1_000_000} MB. Split it."))
            break
        if count >= _MOST:
            report.refused.append((name, f"an import takes at most {_MOST} files."))
            break
        _import_file(name, data, editor, folder, report, may_change=may_change)
    return report


def _open_archives(files: Iterable[tuple[str, bytes]], report: ImportReport) -> Iterator[tuple[str, bytes]]:
    for name, data in files:
        if not name.lower().endswith(".zip"):
            yield name, data
            continue
        try:
            if len(data) > LARGEST_IMPORT:
                raise Unreadable(f"is larger than {LARGEST_IMPORT // 1_000_000} MB. Split it.")
            yield from read_apart(
                data, unpack, data, SUFFIXES,
                most_files=_MOST, most_bytes=_LARGEST, most_bytes_in_all=LARGEST_IMPORT,
            )  # fmt: skip
        except Unreadable as problem:
            report.refused.append((name, problem.problem))


def _import_file(name: str, data: bytes, editor: str, folder: str, report: ImportReport, *, may_change: bool) -> None:
    try:
        if len(data) > _LARGEST:
            raise TestRefused(f"is larger than {_LARGEST // 1_000_000} MB.")
        document = read_apart(data, parse_yaml, decode(data))
        has_configuration = isinstance(document, dict) and bool(document.pop("configuration", None))
        check_document(document)
        case = CeTestCase.objects.filter(name=document["id"]).first()
        if case and not may_change:
            raise TestRefused(f"the test {case.name} exists, and you may not change tests. Give this one another id.")
        below = str(PurePosixPath(name).parent).strip("./")
        report.store(document, case, editor=editor, folder="/".join(part for part in (folder, below) if part))
        report.without_configuration += has_configuration
    except Unreadable as problem:
        report.refused.append((name, problem.problem))
    except (TestRefused, ScenarioFileError) as refused:
        report.refused.append((name, str(refused)))


def build_files(tests: QuerySet[CeTestCase]) -> Iterator[tuple[str, str]]:
    """The path and the text of each test's file; an erased test has none."""
    runnable = tests.filter(erased_at=None).prefetch_related("tags").order_by("folder", "name")
    for case in runnable.iterator(chunk_size=200):
        path = PurePosixPath(case.folder) / f"{case.name}.yaml" if case.folder else PurePosixPath(f"{case.name}.yaml")
        yield str(path), dump_yaml(build_full_document(case))


def export_tests(tests: QuerySet[CeTestCase]) -> HttpResponse:
    """Tests as an archive of scenario files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in build_files(tests):
            archive.writestr(name, text)
    headers = {"Content-Disposition": 'attachment; filename="tests.zip"'}
    return HttpResponse(data.getvalue(), content_type="application/zip", headers=headers)
