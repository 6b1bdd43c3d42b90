"""A project is read whole, or refused with the file and the remedy."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from config_admin.contrib.come_over import files as reading
from config_admin.contrib.come_over.files import read_files
from config_admin.contrib.come_over.project import Project
from config_admin.contrib.come_over.rasa import LAYOUT, read_project
from config_admin.transfer.document import FileRefused

KAYAK_HIRE = Path(__file__).with_name("kayak_hire")
DOMAIN = "intents: [greet]\nresponses:\n  utter_greet:\n  - text: Ahoy\n"
#: Broken projects: their files besides a domain, and what the refusal says.
REFUSED: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "not YAML": ({"data/nlu.yml": "nlu:\n- intent: [greet\n"}, ("data/nlu.yml, line 3", "not valid YAML", "Correct")),
    "not a map": ({"data/nlu.yml": "- greet\n"}, ("data/nlu.yml", "is not a file of Rasa", "move it away")),
    "a wrong shape": ({"data/nlu.yml": "nlu:\n- intent: 3\n  examples: {a: b}\n"}, ("nlu.0.examples", "Rasa 3")),
    "a wrong step": ({"data/stories.yml": "stories:\n- story: a\n  steps: [greet]\n"}, ("stories.0.steps.0: 'greet'",)),
    "a wrong slot": ({"domain.yml": "slots:\n  boat: text\n"}, ("domain.yml", "slots.boat", "Rasa 3")),
    "a broken mark": (
        {"data/nlu.yml": 'nlu:\n- intent: hire\n  examples: |\n    - a [canoe]{"entity: boat}\n'},
        ("data/nlu.yml", "hire: The mark", "Correct the example"),
    ),
    "a circle": ({"data/nlu.yml": "nlu: &all\n- *all\n"}, ("data/nlu.yml, line 2", "names nothing that ends before")),
    "many aliases": (
        {"data/nlu.yml": "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
            f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdef", "bcdefg", strict=True)
        )},
        ("data/nlu.yml", "Write them out"),
    ),
    "Rasa 1 examples": ({"data/nlu.md": "## intent:greet\n- hi\n"}, ("data/nlu.md", "Rasa 1 (Markdown)", "rasa data")),
    "Rasa 1 stories": ({"data/stories.md": "## path\n* greet\n  - utter_greet\n"}, ("data/stories.md", "Rasa 1")),
    "a domain of Rasa 1": ({"domain.yml": "templates:\n  utter_a:\n  - text: Ahoy\n"}, ("domain.yml", "Call its `t")),
    "no text": ({"data/nlu.yml": "nlu: []\0"}, ("data/nlu.yml", "NUL")),
}  # fmt: skip


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(files: dict[str, str], domain: str = DOMAIN) -> Path:
        for name, text in {"domain.yml": domain, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def read(source: Path) -> Project:
    return read_project(source.name, read_files(source, LAYOUT))


def pack(folder: Path, archive: Path, top: str = "") -> Path:
    """The files of a folder as an archive, in which they are below another folder."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for path in filter(Path.is_file, sorted(folder.rglob("*"))):
            opened.write(path, f"{top}{path.relative_to(folder)}")
    return archive


def refuse(folder: Path) -> str:
    with pytest.raises(FileRefused) as refused:
        read(folder)
    return str(refused.value)


@pytest.fixture(scope="module")
def kayak_hire() -> Project:
    return read(KAYAK_HIRE)


def test_examples_are_read_without_marks_and_with_their_values(kayak_hire: Project) -> None:
    examples = kayak_hire.examples["hire_kayak"]
    assert examples[2].text == "book me a two seater"
    assert examples[2].values == {"boat": "double kayak"}
    assert kayak_hire.find_words("boat") == {
        "kayak": ["kayak"],
        "double kayak": ["double kayak", "double kayak"],
        "canoe": ["canoe", "canoe"],
    }
    assert kayak_hire.list_synonyms("double kayak") == ["two seater", "tandem"]


def test_marks_that_name_a_value_make_synonyms(write: Callable[..., Path]) -> None:
    examples = '- the [long](boat:raft) one\n    - a [Flat One]{"entity": "boat", "value": "raft"} or a [canoe](boat)\n'
    project = read(write({"data/nlu.yml": f"nlu:\n- intent: hire\n  examples: |\n    {examples}"}))
    assert (project.synonyms, project.list_synonyms("raft")) == (
        {"long": "raft", "flat one": "raft"}, ["long", "flat one"],
    )  # fmt: skip


def test_forms_slots_and_language_are_read(kayak_hire: Project) -> None:
    assert list(kayak_hire.forms["hire_form"])[:3] == ["boat", "licence", "hire_date"]
    assert kayak_hire.slots["persons"]["max_value"] == "4"
    assert (kayak_hire.language, kayak_hire.sections >= {"pipeline", "policies"}) == ("en", True)


def test_a_form_may_have_its_own_mappings(write: Callable[..., Path]) -> None:
    domain = (
        "forms:\n  hire:\n    required_slots:\n      boat:\n      - {type: from_text, not_intent: stop}\n  empty:\n"
    )
    assert read(write({}, domain)).forms == {
        "hire": {"boat": [{"type": "from_text", "not_intent": "stop"}]},
        "empty": {},
    }


@pytest.mark.parametrize(
    ("forms", "read_forms"),
    [
        ("[hire, empty]", {"hire": {}, "empty": {}}),
        ("{hire: {required_slots: {boat: null}}, empty: {required_slots: ~}}", {"hire": {"boat": []}, "empty": {}}),
        (
            "{hire: {boat: [{type: from_text}], ignored_intents: [chat]}, empty: {ignored_intents: chat}}",
            {"hire": {"boat": [{"type": "from_text"}]}, "empty": {}},
        ),
    ],
)
def test_forms_of_older_versions_are_read(forms: str, read_forms: dict[str, Any], write: Callable[..., Path]) -> None:
    assert read(write({}, f"forms: {forms}\n")).forms == read_forms


def test_what_is_left_empty_or_indented_wrongly_counts_for_nothing(write: Callable[..., Path]) -> None:
    project = read(write({}, "intents:\n-\n- hire:\n  use_entities: []\nresponses:\n  utter_a:\n  utter_b: []\n"))
    assert (project.intents, project.responses) == (["hire"], {"utter_a": [], "utter_b": []})


def test_a_domain_may_be_a_folder(write: Callable[..., Path]) -> None:
    folder = write({
        "domain/boats.yml": "intents: [hire]\n", "domain/more/small.yaml": "intents: [thank: {a: b}]\n",
        "domains/other.yml": "intents: [rent]\n",
    })  # fmt: skip
    assert read(folder).intents == ["hire", "thank", "rent", "greet"]


def test_a_text_about_the_project_is_no_training_data(write: Callable[..., Path]) -> None:
    assert read(write({"data/README.md": "# Our data\n\n* Please\n  sort it.\n"})).intents == ["greet"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_broken_file_is_named_with_the_remedy(name: str, write: Callable[..., Path]) -> None:
    files, expected = REFUSED[name]
    refusal = refuse(write(files))
    assert all(text in refusal for text in expected), refusal


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    tmp_path.joinpath("config.yml").write_text("language: en\n")
    assert "is no Rasa project" in refuse(tmp_path)
    assert "is not a readable archive" in refuse(tmp_path / "config.yml")
    assert "none.zip: cannot be read: No such file" in refuse(tmp_path / "none.zip")


def test_sizes_are_bounded(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write({"data/a.yml": "nlu: []\n", "data/b.yml": "nlu: []\n"})
    for limit, value, expected in (
        ("MOST_FILES", 2, "data/b.yml: is one of more than 2 files"),
        ("MOST_BYTES", 40, "domain.yml: has more than"),
        ("MOST_BYTES_IN_ALL", 70, "data/b.yml: is too much"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(reading, limit, value)
            assert expected in refuse(folder)


def test_links_are_not_followed(write: Callable[..., Path], tmp_path: Path) -> None:
    folder = write({"elsewhere/nlu.yml": "nlu:\n- intent: secret\n  examples: |\n    - hush\n"})
    folder.joinpath("data").mkdir()
    folder.joinpath("data", "nlu.yml").symlink_to(folder / "elsewhere" / "nlu.yml")
    assert read(folder).examples == {}


def test_an_archive_is_read_as_its_folder(kayak_hire: Project, tmp_path: Path) -> None:
    packed = read(pack(KAYAK_HIRE, tmp_path / "bot.zip", "kayak-main/bot/"))
    assert {**vars(packed), "name": "kayak_hire"} == vars(kayak_hire)


def test_an_archive_that_unpacks_to_much_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "bot" / "data" / "nlu.yml"
    large.parent.mkdir(parents=True)
    for megabytes, expected in ((5, "data/nlu.yml: has more than 4 MB"), (200, "unpacks to more than")):
        large.write_bytes(b" " * megabytes * 1024**2)
        assert expected in refuse(pack(tmp_path / "bot", tmp_path / "bot.zip"))
