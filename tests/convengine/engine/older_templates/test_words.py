import pytest

from convengine.engine.older_templates.words import ExpressionError, is_older, tokens


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
