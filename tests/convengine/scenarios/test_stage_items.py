from typing import Any

import pytest

from convengine.scenarios.happened import Row
from convengine.scenarios.reading import Node
from convengine.scenarios.stage_items import first_missed, read
from convengine.scenarios.wording import ScenarioFileError


def rows(*stages: str | tuple[str, dict[str, Any]]) -> list[Row]:
    return [Row(stage, {}) if isinstance(stage, str) else Row(*stage) for stage in stages]


def missed(items: list[Any], *stages: str | tuple[str, dict[str, Any]]) -> Any:
    return first_missed(read(Node(items)), rows(*stages))


def test_items_are_a_subsequence() -> None:
    assert missed(["A", "C"], "A", "B", "C", "D") is None
    assert missed([], "A") is None


def test_a_stage_out_of_order_is_missed_with_what_came_instead() -> None:
    assert missed(["B", "A"], "A", "B", "STEP_EXIT", "C") == ("[1]", "A", ["C"])


def test_a_row_is_taken_by_one_item_only() -> None:
    assert missed(["A", "A"], "A", "B") == ("[1]", "A", ["B"])
    assert missed(["A", "A"], "A", "A") is None


def test_a_name_means_the_stage_with_any_source() -> None:
    assert missed(["RULE_APPLIED"], "RULE_APPLIED (RulesStep)") is None
    assert missed(["RULE"], "RULE_APPLIED (RulesStep)") is not None


def test_a_name_with_brackets_means_only_itself() -> None:
    assert missed(["RULE_APPLIED (RulesStep)"], "RULE_APPLIED (RulesStep)") is None
    assert missed(["RULE_APPLIED (RulesStep)"], "RULE_APPLIED (RulesStep Again)") is not None
    assert missed(["RULE_APPLIED (RulesStep)"], "RULE_APPLIED") is not None


def test_a_payload_is_looked_for_in_later_rows_of_the_stage_as_well() -> None:
    item = {"stage": "A", "payload": {"$.n": 2}}

    assert missed([item, "B"], ("A", {"n": 1}), ("A", {"n": 2}), "B") is None
    assert missed([item, "B"], "B", ("A", {"n": 2})) == ("[1]", "B", [])


def test_a_payload_that_does_not_fit_names_its_path_and_value() -> None:
    item = {"stage": "A", "payload": {"$.ok": True, "$.n": {"min": 2}}}

    assert missed(["B", item], "B", ("A", {"ok": True, "n": 1})) == ("[1] A['$.n']", {"min": 2}, 1)


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ({"payload": {}}, "[0]: the key `stage` is missing."),
        ({"stage": "A", "payloads": {}}, "[0].payloads: unknown key `payloads`; did you mean `payload`?"),
        ({"stage": "A", "payload": {"n": 1}}, "[0].payload.n: the path 'n' must begin with $."),
        ({"stage": "A", "payload": {"$.n": {"mni": 1}}}, "[0].payload['$.n']: unknown operator `mni`"),
        (1, "[0]: must be a map."),
    ],
)
def test_a_malformed_item_is_an_error_at_its_place(item: Any, problem: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        read(Node([item]))

    assert str(refused.value).startswith(problem)
