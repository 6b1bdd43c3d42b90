"""Every row of the table of conditions, and what it leaves open."""

from typing import Any

import pytest

from convengine.engine.rules.conditions.evaluate import BUDGET_EXCEEDED, compile_path
from convengine.engine.rules.conditions.nodes import PathError
from convengine.engine.rules.verdict import NOT_MET
from tests.convengine.engine.rules.conditions.judge import judge_path

DOCUMENT: dict[str, Any] = {
    "schemaComplete": True,
    "done": False,
    "nul": None,
    "empty": "",
    "list": [],
    "n": 5,
    "s": "5",
    "b": True,
    "bs": "true",
    "arr": ["A", "B"],
    "state": "CONFIRM",
    "context": {"mcp": {"finalAnswer": "ok"}, "items": [{"q": 1}, {"q": 2}]},
    "inputParams": {"x": "Y"},
}

TABLE = {
    "filter_on_an_object_tests_the_object_itself": ("$[?(@.schemaComplete == true)]", True),
    "filter_one_level_down": ("$.context[?(@.mcp.finalAnswer == 'ok')]", True),
    "filter_on_an_array_tests_each_element": ("$.context.items[?(@.q > 1)]", True),
    "filter_on_an_array_without_hit": ("$.context.items[?(@.q > 9)]", False),
    "single_true": ("$.schemaComplete", True),
    "single_false": ("$.done", False),
    "missing_path": ("$.missing", False),
    "null_leaf": ("$.nul", True),
    "blank_leaf": ("$.empty", True),
    "empty_list_leaf": ("$.list", True),
    "missing_compares_as_null": ("$[?(@.missing == null)]", True),
    "null_compares_as_null": ("$[?(@.nul == null)]", True),
    "missing_is_not_other_than_null": ("$[?(@.missing != null)]", False),
    "null_is_not_other_than_null": ("$[?(@.nul != null)]", False),
    "safe_on_missing_parents": ("$[?(@.zzz.a.b != null && @.zzz.a.b != '')]", False),
    "null_differs_from_a_text": ("$[?(@.missing != 'x')]", True),
    "null_differs_from_true": ("$[?(@.missing != true)]", True),
    "missing_is_no_blank_text": ("$[?(@.missing == '')]", False),
    "missing_is_not_false": ("$[?(@.missing == false)]", False),
    "missing_is_not_greater": ("$[?(@.missing > 4)]", False),
    "existence_of_missing": ("$[?(@.missing)]", False),
    "absence_of_missing": ("$[?(!@.missing)]", True),
    "existence_of_null": ("$[?(@.nul)]", True),
    "existence_of_false": ("$[?(@.done)]", True),
    "number_equals_number": ("$[?(@.n == 5)]", True),
    "number_equals_decimal": ("$[?(@.n == 5.0)]", True),
    "number_equals_text": ("$[?(@.n == '5')]", True),
    "number_equals_double_quoted_text": ('$[?(@.n == "5")]', True),
    "text_equals_number": ("$[?(@.s == 5)]", True),
    "text_that_is_a_number_has_an_order_with_numbers": ("$[?(@.s > 4)]", True),
    "boolean_is_no_text": ("$[?(@.b == 'true')]", False),
    "text_is_no_boolean": ("$[?(@.bs == true)]", False),
    "case_counts": ("$[?(@.state == 'confirm')]", False),
    "regex": ("$[?(@.state =~ /conf.*/i)]", True),
    "in": ("$[?(@.state in ['A','CONFIRM'])]", True),
    "nin": ("$[?(@.missing nin ['A'])]", True),
    "literal_on_the_left": ("$[?('A' in @.arr)]", True),
    "contains": ("$[?(@.arr contains 'A')]", True),
    "anyof": ("$[?(@.arr anyof ['A'])]", True),
    "empty_true": ("$[?(@.list empty true)]", True),
    "size": ("$[?(@.list size 0)]", True),
    "equals_empty_list": ("$[?(@.list == [])]", True),
    "length": ("$[?(@.arr.length() > 0)]", True),
    "size_method": ("$[?(@.arr.size() > 0)]", True),
    "and_without_spaces": ("$[?(@.n==5&&@.b==true)]", True),
    "and_with_spaces": ("$[?( @.n == 5  &&  @.b == false )]", False),
    "or": ("$[?(@.n == 6||@.b == true)]", True),
    "negated_group": ("$[?(!( @.n == 6 || @.b == false ))]", True),
    "root_inside_a_filter": ("$[?($.n == 5)]", True),
    "descendants": ("$..finalAnswer", True),
    "last_element": ("$.arr[-1]", True),
    "several_elements": ("$.arr[0,1]", True),
    "quoted_member": ("$['state']", True),
    "bare_name": ("state", True),
}


@pytest.mark.parametrize(("path", "expected"), TABLE.values(), ids=[f"P2_0_8_{name}" for name in TABLE])
def test_a_path_decides(path: str, expected: bool) -> None:
    assert judge_path(path, DOCUMENT).matched is expected


REFUSED = {
    "comparison_outside_a_filter": ("$.schemaComplete == true", 18),
    "word_AND": ("$[?(@.b AND @.n)]", 9),
    "word_OR": ("$[?(@.b OR @.n)]", 9),
    "word_TRUE": ("$[?(@.b == TRUE)]", 12),
    "length_outside_a_filter": ("$.context.items.length()", 17),
    "open_bracket": ("$[", 3),
}


@pytest.mark.parametrize(("path", "position"), REFUSED.values(), ids=[f"P2_0_8_{name}" for name in REFUSED])
def test_a_syntax_error_has_its_position(path: str, position: int) -> None:
    with pytest.raises(PathError) as caught:
        compile_path(path)
    assert caught.value.position == position
    assert caught.value.reason


@pytest.mark.parametrize(
    "path",
    [
        "",
        "@.a",
        "$.a.$.b",
        "$.a[?(b == 1)]",
        "$.a[?(@.b = 1)]",
        "$.a[b]",
        "$.a[1.5]",
        "$.a[::0]",
        "$.a[?(@.b == 'x)]",
        "$.a | $.b",
        "$.a + 1",
        "$.`len`",
        "$.a[/@.b]",
        "$[?(@.a =~ /(/)]",
        "$[?(@.a =~ /a(?=b)/)]",
        "$[?(@.a =~ /a/z)]",
        "$[?(@.a =~ 'a')]",
        "$[?(@.a == 1234567890123456789012345678901)]",
        "$[?()]",
        "$." + "a." * 1000 + "b",
        "$[?(" + "(" * 40 + "@.a" + ")" * 41 + "]",
        "$[?(@.a in " + "[" * 40 + "]" * 40 + ")]",
    ],
)
def test_what_the_dialect_does_not_have_is_refused(path: str) -> None:
    with pytest.raises(PathError):
        compile_path(path)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$", [DOCUMENT]),
        ("$.context.items[*].q", [1, 2]),
        ("$.context.items[1:].q", [2]),
        ("$.context.items[-1:].q", [2]),
        ("$.arr[5]", []),
        ("$.arr[-5]", []),
        ("$.arr.x", []),
        ("$['n','s','gone']", [5, "5"]),
        ("$..q", [1, 2]),
        ("$..[?(@.q)]", [{"q": 1}, {"q": 2}]),
        ("$..[?(@ == 'A')]", ["A"]),
        ("$..[0]", ["A", {"q": 1}]),
        ("$.inputParams.*", ["Y"]),
        ("$.inputParams..*", ["Y"]),
        ("$.n[?(@ == 5)]", []),
        ("$.arr[?(@ != 'A')]", ["B"]),
        ("$.context.items[?(@.q == $.n)]", []),
        ("$[?(@.context.items[*].q contains 2)].n", [5]),
        ("$[?(@.context.items[?(@.q == 2)])].n", [5]),
    ],
)
def test_find_gives_values_in_document_order(path: str, values: list[Any]) -> None:
    assert compile_path(path).find(DOCUMENT) == values


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("@.arr all ['A','B']", True),
        ("@.arr all ['A','C']", False),
        ("@.arr subsetof ['A','B','C']", True),
        ("@.arr noneof ['C']", True),
        ("@.missing noneof ['C']", False),
        ("@.state contains 'ONF'", True),
        ("@.empty empty true", True),
        ("@.state empty false", True),
        ("@.missing empty true", False),
        ("@.state size 7", True),
        ("@.context.length() == 2", True),
        ("@.missing.length() == null", True),
        ("@.n in ['5']", True),
        ("@.b in [1]", False),
        ("@.arr == ['A','B']", True),
        ("@.arr == ['A']", False),
        ("@.context.mcp == $.context.mcp", True),
        ("@.state < 'D'", True),
        ("@.n >= 5 && @.n <= 5", True),
        ("@.s > 4", True),
        ("@.s > 10", False),
        ("@.n <= '5.0'", True),
        ("@.state > 4", False),
        ("@.b > 0", False),
        ("@.n == -5", False),
        ("@.n == 5e0", True),
        ("@.s == 5.0", True),
        ("@.nul == []", False),
        ("@.n =~ /\\d/", True),
        ("@.state =~ /conf.*/", False),
        ("@.state =~ /ONF/", False),
        ("@.state =~ /.*\\/.*/", False),
        ("@.missing =~ /.*/", False),
        ("@['state'] == \"CONFIRM\"", True),
        ("@.state == '\\u0043ONFIRM'", True),
        ("'😀' == '\\ud83d\\ude00'", True),
        ("'😀!' == '\\uD83D\\uDE00\\u0021'", True),
        ("'\\\\u0043' == '\\u005cu0043'", True),
        ("'\\ud83d' == '\\ud83d'", True),
        ("@.schemaComplete == @.b", True),
        ("!@.done == false", False),
        ("true == @.b", True),
        ("1 == 1", True),
        ("@.in == null && @.true == null && @.size == null", True),
    ],
)
def test_a_condition_holds(condition: str, expected: bool) -> None:
    assert judge_path(f"$[?({condition})]", DOCUMENT).matched is expected


def test_a_name_may_be_any_word_of_any_script() -> None:
    document = {"in": 1, "größe": 2, "order-id": 3, "null": 4}
    for name, value in document.items():
        assert compile_path(f"$.{name}").find(document) == [value]


@pytest.mark.parametrize("path", ["$.nul", "$.empty", "$.list", "$.context.nothing"])
def test_an_empty_leaf_may_be_told_not_to_count(path: str) -> None:
    document = {**DOCUMENT, "context": {"nothing": {}}}
    assert judge_path(path, document).matched
    assert not judge_path(path, document, null_leaf_matches=False).matched


def test_a_filter_does_not_care_about_empty_leaves() -> None:
    assert judge_path("$.context.items[?(@.q)]", DOCUMENT, null_leaf_matches=False).matched


def test_first_tells_null_from_nothing() -> None:
    assert compile_path("$.nul").first(DOCUMENT) == (True, None)
    assert compile_path("$.gone").first(DOCUMENT) == (False, None)


def test_the_operands_are_the_comparisons_that_were_made() -> None:
    verdict = judge_path("$[?(@.n > 9 && @.state == 'X' || 'A' in @.arr && @.gone)]", DOCUMENT)
    assert verdict.reason == NOT_MET
    assert verdict.operands == (
        {"path": "@.n", "value": 5, "op": ">", "literal": 9, "result": False},
        {"path": "'A'", "value": "A", "op": "in", "literal": ["A", "B"], "result": True, "literalPath": "@.arr"},
        {"path": "@.gone", "value": None, "op": "exists", "literal": None, "result": False},
    )


def test_a_plain_path_is_its_own_operand() -> None:
    assert judge_path("$.context['mcp'].finalAnswer", DOCUMENT).operands == (
        {"path": "$.context.mcp.finalAnswer", "value": "ok", "op": "exists", "literal": None, "result": True},
    )


def test_operands_are_few_and_short() -> None:
    document = {"items": [{"q": "x" * 1000, "l": list(range(1000))} for _ in range(100)]}
    operands = judge_path("$.items[?(@.q == 'y' || @.l == 1)]", document).operands
    assert len(operands) == 20
    assert {len(operand["value"]) for operand in operands} == {200}


def test_too_many_descendants_are_false_with_a_reason() -> None:
    verdict = judge_path("$..x", {"items": [[0]] * 6000, "x": 1})
    assert (verdict.matched, verdict.reason) == (False, BUDGET_EXCEEDED)


def test_too_many_comparisons_are_false_with_a_reason() -> None:
    rows = {"rows": [{"n": n} for n in range(300)]}
    verdict = judge_path("$.rows[?($.rows[?(@.n == 'x')])]", rows)
    assert (verdict.matched, verdict.reason) == (False, BUDGET_EXCEEDED)
    assert len(verdict.operands) == 20
    assert compile_path("$.rows[?($.rows[?(@.n == 'x')])]").find(rows) == []


def test_a_document_as_deep_as_python_can_read_does_no_harm() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    verdict = judge_path("$[?(@.a == @.b)]", {"a": [deep], "b": [[deep]]})
    assert (verdict.matched, verdict.reason) == (False, BUDGET_EXCEEDED)


def test_a_path_is_compiled_once() -> None:
    assert compile_path("$.once") is compile_path("$.once")
