"""Load text files into a document collection, each section of a page as a document of its own."""

import re
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.executors.document_store import put
from convengine.server.executors.models import CeDocument, CeDocumentCollection

_KINDS = {".md", ".markdown", ".txt", ".rst"}
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
#: Maximum length of a section before it is split between paragraphs.
_LONGEST = 4000


class Command(ExactCommand):
    """`manage.py load_documents COLLECTION FILE_OR_FOLDER …`"""

    help = "Load Markdown and text files into a document collection. Unchanged files are skipped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection", help="The name of the collection. It is created if it does not exist.")
        parser.add_argument("paths", nargs="+", type=Path, help="Files, or folders with files.")
        parser.add_argument("--workspace", default="default")
        parser.add_argument("--replace", action="store_true", help="Remove documents that are not among these files.")

    def handle(
        self, *args: Any, collection: str, paths: list[Path], workspace: str, replace: bool, **options: Any
    ) -> None:
        """Load all files or none."""
        files = [file for path in paths for file in _files(path)]
        if not files:
            raise CommandError(f"No file to load. Supported types: {', '.join(sorted(_KINDS))}.")
        with transaction.atomic():
            target, _ = CeDocumentCollection.objects.get_or_create(workspace_id=workspace, name=collection)
            changed, seen = 0, set()
            for base, file in files:
                for title, body in sections(file):
                    document, new = put(target, title, body, {"source": file.relative_to(base).as_posix()})
                    changed += new
                    seen.add(document.pk)
            gone = CeDocument.objects.filter(collection=target).exclude(pk__in=seen) if replace else None
            removed = gone.delete()[0] if gone is not None else 0
        self.stdout.write(f"{collection}: {len(seen)} documents, {changed} new or changed, {removed} removed.")


def _files(path: Path) -> Iterator[tuple[Path, Path]]:
    if path.is_dir():
        yield from (
            (path, file) for file in sorted(path.rglob("*")) if file.suffix.lower() in _KINDS and file.is_file()
        )
    elif path.is_file():
        yield path.parent, path
    else:
        raise CommandError(f"The file or folder {path} does not exist.")


def sections(file: Path) -> Iterator[tuple[str, str]]:
    """(title, text) of each part of a file: by headings, long parts split between paragraphs. Raises CommandError."""
    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError:
        raise CommandError(f"{file} is not UTF-8 text.") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
    page, seen = file.stem, set()
    pieces = _HEADING.split(text)
    for heading, body in [("", pieces[0]), *zip(pieces[1::2], pieces[2::2], strict=True)]:
        for number, part in enumerate(_parts(body.strip()), start=1):
            title = " — ".join(name for name in (page, heading) if name)
            title = title if number == 1 else f"{title} ({number})"
            while title in seen:
                title += " ·"
            seen.add(title)
            yield title[:500], part


def _parts(body: str) -> Iterator[str]:
    part = ""
    for paragraph in re.split(r"\n\s*\n", body):
        if part and len(part) + len(paragraph) > _LONGEST:
            yield part
            part = ""
        part = f"{part}\n\n{paragraph}".strip()
    if part:
        yield part
