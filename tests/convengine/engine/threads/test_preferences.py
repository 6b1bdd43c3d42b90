"""Preferences by the names of this deployment."""

from typing import Any

import pytest

from convengine.engine.threads.preferences import ALIASES, find_problems, map_by_kind
from convengine.engine.turn.session import PREFERENCE_KINDS

KNOWN = dict.fromkeys(PREFERENCE_KINDS, ("built-in",)) | {"model": ("small", "large"), "knowledge_base": ()}


@pytest.mark.parametrize("wanted", [{}, {"model": "small"}, {"preferredModel": "large", "planner": "built-in"}])
def test_what_is_installed_is_no_problem(wanted: dict[str, Any]) -> None:
    assert find_problems(wanted, KNOWN) == {}


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"colour": "red"}, ("no such preference", "Known: model")),
        ({"model": "huge"}, ("'huge' is not installed", "Known: small, large")),
        ({"preferredModel": 7}, ("7 is not installed",)),
        ({"mountedKbId": "manuals"}, ("'manuals' is not installed", "Known: none")),
    ],
)
def test_what_is_wrong_is_told_under_the_name_that_was_sent(wanted: dict[str, Any], words: tuple[str, ...]) -> None:
    problems = find_problems(wanted, KNOWN)

    assert list(problems) == list(wanted)
    assert all(word in next(iter(problems.values())) for word in words)


def test_each_fault_is_told() -> None:
    assert list(find_problems({"model": "huge", "planner": "built-in", "colour": "red"}, KNOWN)) == ["model", "colour"]


@pytest.mark.parametrize(("alias", "kind"), ALIASES.items())
def test_the_names_of_the_seed_are_ours(alias: str, kind: str) -> None:
    assert map_by_kind({alias: "x"}) == {kind: "x"}
    assert kind in PREFERENCE_KINDS
