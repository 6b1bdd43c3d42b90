import pytest

from config_admin.contrib.original.expressions import MAX_NESTING, ExpressionError, is_older, tokens, translate


@pytest.mark.parametrize(
    ("older", "jinja"),
    [
        ("a ?: b", "a|if_blank(b)"),
        ("a ?: b ?: 'c'", "a|if_blank(b|if_blank('c'))"),
        ("c ? x : y", "x if c else y"),
        ("a ? b ? 1 : 2 : 3", "(1 if b else 2) if a else 3"),
        ("a && !b || c eq 5", "(a and (not b)) or (c == 5)"),
        ("a ne b", "a != b"),
        ("a gt b", "a > b"),
        ("a lt b", "a < b"),
        ("a ge b", "a >= b"),
        ("a le b", "a <= b"),
        ("a == null", "a == none"),
        ("!(a && b)", "not (a and b)"),
        ("!!a", "a"),
        ("a?.b?.c", "a.b.c"),
        ("a.b['c'][0]", "a.b['c'][0]"),
        ("'x' + y", "'x' ~ y"),
        ("a + 'x' + b", "(a ~ 'x') ~ b"),
        ("a + b", "a + b"),
        ("l.size()", "l|length"),
        ("l.size() > 0", "(l|length) > 0"),
        ("-l.size()", "-(l|length)"),
        ("s.length()", "s|length"),
        ("s.toUpperCase().trim()", "(s|upper)|trim"),
        ("s.contains('a')", "('a' in s)"),
        ("s.equalsIgnoreCase('bob')", "(s|lower == 'bob'|lower)"),
        ("s.startsWith('a') ? 1 : 2", "1 if s.startswith('a') else 2"),
        ("s.replace('a', 'b')", "s|replace('a', 'b')"),
        ("l.get(0).name", "l.get(0).name"),
        ("#strings.isEmpty(x)", "((x) is blank)"),
        ("#lists.size(x) == 3", "((x)|length) == 3"),
        ("7 mod 2", "7 % 2"),
        ("a|upper ?: 'x'", "a|upper|if_blank('x')"),
        ("a is not none and b not in c", "(a is not none) and (b not in c)"),
        ("a if b else c", "a if b else c"),
        ("a if b", "a if b"),
        ("[1, {'a': -x}]", "[1, {'a': -x}]"),
        ("f(x, y=2)", "f(x, y=2)"),
        ("a|round(2, method='x')", "a|round(2, method='x')"),
        ("a[1:2]", "a[1:2]"),
        ("a.0", "a[0]"),
    ],
)
def test_an_expression_is_said_in_jinja(older: str, jinja: str) -> None:
    assert translate(older) == jinja


@pytest.mark.parametrize(
    "text",
    [
        "T(java.lang.Runtime)", "new java.util.Date()", "@bean.run()", "#root.x", "#strings.concat(a)",
        "#strings.isEmpty()", "l.size(1)", "s.replace('a')", "a ?", "a b", "(a", "a.'b'", ")", "{'a' 1}", "f(a b)",
    ],
)  # fmt: skip
def test_what_cannot_or_may_not_be_said_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        translate(text)


def test_nesting_is_bounded() -> None:
    assert translate("(" * (MAX_NESTING - 1) + "a" + ")" * (MAX_NESTING - 1))
    with pytest.raises(ExpressionError, match="nested too deeply"):
        translate("(" * MAX_NESTING + "a" + ")" * MAX_NESTING)


def test_long_chains_are_no_nesting() -> None:
    for chain in ("a ?: " * 500 + "b", "-" * 1000 + "a", "!" * 1000 + "a", "a" + "[0]" * 500):
        assert translate(chain)


@pytest.mark.parametrize(
    "text",
    ["a ?: b", "a?.b", "c ? x : y", "a && b", "a || b", "!a", "a eq 5", "a == null", "l.size()", "'x' + y", "y + 'x'",
     "#strings.isEmpty(x)", "@bean", "new X()", "T(x)"],
)  # fmt: skip
def test_an_older_expression_is_known(text: str) -> None:
    assert is_older(text)


@pytest.mark.parametrize(
    "text",
    ["a", "a.b", "a['b']", "a|upper", "a + b", "a if b else c", "not a", "a != b", "s.upper()", "size", "a ~ 'x'"],
)
def test_jinjas_own_is_left_alone(text: str) -> None:
    assert not is_older(text)


def test_a_character_of_no_word_is_refused() -> None:
    with pytest.raises(ExpressionError, match="unexpected ';'"):
        list(tokens("a ; b"))
