"""The list of components: what it holds, and which licences it refuses."""

from pathlib import Path
from typing import Any

import pytest

from tests.components import describe_environment, find_refusals, is_allowed
from tests.test_lock import list_pinned


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("MPL-2.0 AND (Apache-2.0 OR GPL-2.0-only)", True),
        ("(GPL-2.0-only OR (AGPL-3.0-only AND MIT)) AND MIT", False),
        ("GPL-3.0-only WITH GCC-exception-3.1", False),
        ("", False),
    ],
)
def test_an_expression_is_allowed_if_one_of_its_alternatives_is(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) is allowed


@pytest.mark.parametrize(
    ("licences", "expected"),
    [
        ([{"expression": "MIT OR GPL-2.0-only"}], []),
        ([], ["ring 1.0 names no licence."]),
        ([{"license": {"id": "AGPL-3.0-only"}}], ["ring 1.0 has the licence AGPL-3.0-only, which is not allowed."]),
        (
            [{"license": {"id": "MIT"}}, {"license": {"name": "Shared source"}}],
            ["ring 1.0 has the licence Shared source, which is not allowed."],
        ),
    ],
)
def test_a_refusal_has_the_package_the_licence_and_what_to_do(licences: list[Any], expected: list[str]) -> None:
    refusals = list(find_refusals({"components": [{"name": "ring", "version": "1.0", "licenses": licences}]}))

    assert [refusal.partition(" Choose another package")[0] for refusal in refusals] == expected
    assert all(refusal.endswith("in tests/components.py.") for refusal in refusals)


@pytest.mark.long
def test_every_package_of_a_server_is_a_component_with_an_allowed_licence(tmp_path: Path) -> None:
    document = describe_environment(tmp_path / "components.json")

    pinned = {line.split("==")[0] for line in list_pinned("requirements-production.lock") if ";" not in line}
    names = {component["name"].lower().replace("_", "-") for component in document["components"]}
    assert (document["bomFormat"], pinned - names) == ("CycloneDX", set())
    assert list(find_refusals(document)) == []
