from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from convengine.commands.management.commands.load_documents import sections
from convengine.server.executors.document_store import search
from convengine.server.executors.models import CeDocument

pytestmark = pytest.mark.django_db


def load(*args: str) -> str:
    out = StringIO()
    call_command("load_documents", *args, stdout=out)
    return out.getvalue()


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "orders.md").write_text(
        "Before.\n\n# Delivery\n\nThree days.\n\n## Returns\n\nThirty days.\n\n# Empty\n"
    )
    (tmp_path / "sub/plain.txt").write_text("Nothing special.")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    return tmp_path


def test_a_page_is_loaded_by_its_sections_and_found(pages: Path) -> None:
    output = load("handbook", str(pages))

    assert output.strip() == "handbook: 4 documents, 4 new or changed, 0 removed."
    assert sorted(CeDocument.objects.values_list("title", flat=True)) == [
        "orders", "orders — Delivery", "orders — Returns", "plain",
    ]  # fmt: skip
    document = search("returns", "default")[0].document
    assert (document.body, document.metadata) == ("Thirty days.", {"source": "orders.md"})


def test_loading_again_changes_what_changed_and_takes_out_what_is_gone(pages: Path) -> None:
    load("handbook", str(pages))
    (pages / "orders.md").write_text("# Delivery\n\nFour days.")

    assert load("handbook", str(pages)).strip() == "handbook: 2 documents, 1 new or changed, 0 removed."
    assert load("handbook", str(pages), "--replace").strip() == "handbook: 2 documents, 0 new or changed, 2 removed."


def test_a_long_section_is_cut_between_paragraphs(tmp_path: Path) -> None:
    page = tmp_path / "long.md"
    page.write_text("# One\n\n" + "\n\n".join("x" * 1500 for _ in range(5)) + "\n\n# One\n\nAgain.")

    parts = list(sections(page))

    assert [title for title, _ in parts] == ["long — One", "long — One (2)", "long — One (3)", "long — One ·"]
    assert max(len(body) for _, body in parts) <= 4000


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: Path, *_: object) -> str:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(Path, "read_text", refuse)

    with pytest.raises(CommandError, match=r"a\.txt cannot be read: Permission denied"):
        list(sections(tmp_path / "a.txt"))


def test_what_cannot_be_loaded_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe")

    for path in (str(tmp_path / "missing"), str(tmp_path)):
        with pytest.raises(CommandError):
            load("handbook", path)
    assert CeDocument.objects.count() == 0
