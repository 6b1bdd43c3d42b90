"""What is built and committed is what its sources say, with the licences of all that is in it."""

import hashlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "static/convengine"


@pytest.mark.parametrize("name", ["editor", "layout"])
def test_what_is_built_is_that_of_its_sources(name: str) -> None:
    sources = b"".join(
        (ROOT / ".assets" / source).read_bytes() for source in (f"{name}.js", "build.mjs", "package-lock.json")
    )

    made = hashlib.sha256(sources).hexdigest()[:16]
    assert f"({made})" in (BUILT / f"ce-{name}.js").read_text()[:200], "Run `make assets`, and commit what it builds."


def test_every_package_is_pinned_and_listed_with_its_licence() -> None:
    project = json.loads((ROOT / ".assets/package.json").read_text())
    licences = "".join((BUILT / f"ce-{name}.licences.txt").read_text() for name in ("editor", "layout"))

    for name, version in project["dependencies"].items():
        assert f"{name} {version} (MIT)" in licences
    assert licences.count("Permission is hereby granted") >= 1
    assert "resolved" not in (ROOT / ".assets/package-lock.json").read_text()
