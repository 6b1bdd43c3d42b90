"""What is built and committed is what its sources say, with the licences of all that is in it."""

import hashlib
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "static/convengine"


def test_the_built_editor_is_that_of_its_sources() -> None:
    sources = b"".join(
        (ROOT / "assets" / name).read_bytes() for name in ("editor.js", "build.mjs", "package-lock.json")
    )

    made = hashlib.sha256(sources).hexdigest()[:16]
    assert f"({made})" in (BUILT / "ce-editor.js").read_text()[:200], "Run `make assets`, and commit what it builds."


def test_every_package_is_pinned_and_listed_with_its_licence() -> None:
    project = json.loads((ROOT / "assets/package.json").read_text())
    licences = (BUILT / "ce-editor.licences.txt").read_text()

    for name, version in project["dependencies"].items():
        assert f"{name} {version} (MIT)" in licences
    assert licences.count("Permission is hereby granted") >= 1
    assert "resolved" not in (ROOT / "assets/package-lock.json").read_text()
