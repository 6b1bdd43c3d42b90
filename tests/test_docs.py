"""The manual is true: files that it names exist, variables that it lists are read, commands are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: The map of the source, and where to change what.
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text().partition(
    "## Where to change or add something"
)[2].partition("\n## ")[0]
README = (ROOT / "README.md").read_text()
#: Bytes that a reader has patience for.
LONGEST = {"CHANGELOG.md": 8 * 1024, "README.md": 7 * 1024}
#: Variables that only tests read.
OF_TESTS = {"CE_TEST_", "CE_CHROMIUM", "CE_WRITE_MANUAL"}


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/]+(?:/|\.py|\.md))`", ARCHITECTURE))))
def test_every_file_of_the_map_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_code_names_no_page_that_is_not_in_the_tree() -> None:
    """Neither a ruling of a specification, nor a chapter of the manual that does not exist."""
    missing = []
    for tree in ("convengine", "config_admin", "audit", "bench", "tests"):
        for file in sorted((ROOT / tree).rglob("*.py")):
            if file.name in ("vectors.py", "test_docs.py"):
                continue
            text = file.read_text()
            names = re.findall(r"(?<!amended)\((?:R\d{1,3}|law \d)\b[^)]*\)|pipeline-[12] \d[\d.]*|api-and-audit", text)
            names += [name for name in re.findall(r"\bdocs/\w+\.md", text) if not (ROOT / name).is_file()]
            missing += [f"{file.relative_to(ROOT)}: {name}" for name in names]

    assert missing == []


def list_variables() -> set[str]:
    """The environment variables that the settings read, without those of tests."""
    source = "".join(
        (ROOT / f"convengine/{name}.py").read_text() for name in ("settings", "server/deployment/environment")
    )
    return set(re.findall(r'"((?:CE|DATABASE)_[A-Z_]+)"', source)) - {"CE_CFG__", *OF_TESTS}


def test_every_variable_that_the_settings_read_is_documented() -> None:
    text = (ROOT / "docs/deployment.md").read_text()

    missing = {name for name in list_variables() if name not in text and not name.startswith("CE_AUDIT_RATE_LIMIT_")}
    assert missing == set()


def test_the_make_targets_that_the_readme_names_exist() -> None:
    # Those of a project that `convengine init` makes, too.
    makefile = "".join((ROOT / name).read_text() for name in ("Makefile", "fixtures/project/Makefile"))

    for target in set(re.findall(r"`?make (\w+)`?", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("name", LONGEST)
def test_what_newcomers_read_first_stays_short(name: str) -> None:
    assert (ROOT / name).stat().st_size <= LONGEST[name]


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)]+)\)", README))))
def test_what_the_readme_links_exists(target: str) -> None:
    path, _, anchor = target.partition("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(errors="replace"), re.MULTILINE)

    assert anchor in {"", *(heading.lower().replace(" ", "-") for heading in headings)}


def test_every_runtime_dependency_is_explained() -> None:
    import tomllib

    text = (ROOT / "docs/dependencies.md").read_text().lower()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[\[<>=~ ;]", line)[0].lower() for line in project["dependencies"]]

    assert [name for name in names if name not in text] == []
