from typing import Any

import pytest

from convengine.engine.steps.tools.observations import (
    bound_observations,
    build_observation,
    compact_observations,
    find_latest_summary,
)
from convengine.engine.turn.codec import dumps, loads

LONG = "x" * 3000


def show_observations(*results: Any, count: int = 5, chars: int = 6000) -> list[Any]:
    return compact_observations([build_observation("a", result, 1_000_000) for result in results], count, chars)


def test_a_result_is_kept_as_json_text() -> None:
    assert build_observation("a", {"s": [1]}, 1000) == {"toolCode": "a", "json": '{"s":[1]}'}


def test_a_large_result_is_kept_as_its_beginning() -> None:
    document = loads(build_observation("a", {"text": "é" * 5000}, 2048)["json"])

    assert (document["truncated"], document["bytes"]) == (True, 10_011)
    assert document["preview"].startswith('{"text":"é')
    assert len(dumps(document)) < 2048


def test_the_oldest_give_way_when_all_together_are_too_large() -> None:
    results = [build_observation("a", {"n": n, "t": "y" * 800}, 10_000) for n in range(3)]

    bounded = bound_observations(results, 1800)

    assert loads(bounded[0]["json"])["omitted"] is True
    assert bounded[1:] == results[1:]


def test_small_results_are_shown_whole() -> None:
    assert show_observations({"status": "SENT", "eta": "tomorrow"}, "plain", [1, 2]) == [
        {"toolCode": "a", "json": {"status": "SENT", "eta": "tomorrow"}},
        {"toolCode": "a", "json": "plain"},
        {"toolCode": "a", "json": [1, 2]},
    ]


def test_of_large_objects_the_telling_fields_and_two_rows_are_shown() -> None:
    rows = [{"n": n, "t": LONG} for n in range(5)]

    (shown,) = show_observations({"status": "OK", "noise": LONG, "rows": rows}, chars=100_000)

    assert shown["json"]["status"] == "OK"
    assert shown["json"]["rowCount"] == 5
    assert [row["n"] for row in shown["json"]["rows"]] == [0, 1]
    assert len(shown["json"]["rows"][0]["t"]) == 2000
    assert "noise" not in shown["json"]


def test_of_large_objects_without_them_twenty_keys_are_shown() -> None:
    (shown,) = show_observations({f"k{n}": "z" * 100 for n in range(40)}, chars=100_000)

    assert list(shown["json"]) == [f"k{n}" for n in range(20)]


def test_of_large_lists_the_count_and_two_entries_are_shown() -> None:
    (shown,) = show_observations([{"n": n, "t": "z" * 100} for n in range(50)])

    assert (shown["json"]["rowCount"], len(shown["json"]["rowsPreview"])) == (50, 2)


def test_the_newest_are_shown_each_once() -> None:
    assert [observation["json"] for observation in show_observations(1, 2, 3, 3, count=3)] == [2, 3]


def test_what_is_shown_has_a_length() -> None:
    results = show_observations({"a": "x" * 1500}, {"b": "x" * 1500}, chars=2000)

    assert results[0]["json"] == "omitted"
    assert results[1]["json"] == {"b": "x" * 1500}
    assert len(dumps(show_observations("y" * 5000, chars=1000))) <= 1000


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ({"content": [{"type": "text", "text": "hi"}], "structuredContent": {"n": 1}}, {"n": 1}),
        ({"content": [{"type": "text", "text": '{"n":2}'}]}, {"n": 2}),
        ({"content": [{"type": "text", "text": "hi"}, {"type": "image", "data": "…"}]}, "hi\n"),
    ],
)
def test_of_an_mcp_result_its_content_is_shown(result: Any, content: Any) -> None:
    assert show_observations(result)[0]["json"] == content


def test_the_latest_summary_counts() -> None:
    results = [
        build_observation("a", value, 1000) for value in ({"summary": "one"}, {"summary": " "}, [1], {"summary": 5})
    ]

    assert find_latest_summary(results) == "one"
    assert find_latest_summary([]) is None
