"""From the files of a bot to its plan, and from the plan to a draft: for the command and the page."""

from collections.abc import Callable, Iterator, Sequence

from config_admin.contrib.come_over.files import read_archive
from config_admin.contrib.come_over.plan import Plan
from config_admin.contrib.come_over.project import Project
from config_admin.contrib.come_over.systems import SYSTEMS
from config_admin.drafts.named_draft import open_named_draft
from config_admin.drafts.open_draft import RowsCollide
from config_admin.flows.document import Values
from config_admin.releases.changes import Author
from config_admin.transfer.apply_import import ImportFailed, ImportResult, run_import
from config_admin.transfer.document import Document, FileRefused, FileRow, ImportMode
from config_admin.validation.labels import table_title

LONGEST_TITLE = 150


def describe_systems() -> str:
    return " or ".join(system.title for system in SYSTEMS.values())


def read_archived_project(name: str, data: bytes) -> Project:
    """The bot in an archive, of the first system whose files it has. Raises FileRefused."""
    for system in SYSTEMS.values():
        if files := read_archive(name, data, system.layout):
            return system.read_project(name, files)
    raise FileRefused(name, f"has no files of a bot of {describe_systems()}. Choose the zipped folder of the bot.")


def name_bot(source: str) -> str:
    """The name of a bot by that of its folder or archive."""
    return source.removesuffix(".zip")


def get_default_title(source: str) -> str:
    return f"From {name_bot(source)}"[:LONGEST_TITLE]


def _locate_rows(table: str, rows: Sequence[Values]) -> Iterator[FileRow]:
    """The rows, each with its intent: its number means nothing to those who have the files of the bot only."""
    for number, row in enumerate(rows, 1):
        yield FileRow(row, f"{table_title(table)} of {row.get('intent_code', 'the bot')}, row {number}")


def make_draft(
    plan: Plan,
    title: str,
    author: Author,
    reason: str,
    *,
    apply: bool,
    limit: Callable[[Document], Document] | None = None,
) -> ImportResult:
    """What the rows of the plan change; with `apply`, and if no row is refused, the draft of this title has them.

    `limit` makes of the document what the author may import. Raises FlowRefused and ImportFailed.
    """
    document = Document(
        {table: [*_locate_rows(table, rows)] for table, rows in plan.write_tables().items()}, ImportMode.UPDATE
    )
    try:
        with open_named_draft(title, author, reason, writing=apply):
            return run_import(limit(document) if limit else document, apply=apply, author=author, reason=reason)
    except RowsCollide as error:
        raise ImportFailed(
            f"A new row of the draft “{title}” has the name of a row that was made live meanwhile. Take it out of the "
            "draft, or choose another title."
        ) from error
