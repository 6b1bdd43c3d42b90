import pytest

from config_admin.contrib.original.templates import MAX_EXPRESSION, MAX_PARTS, convert
from convengine.server.interfaces.older_templates import ConversionError, to_jinja


@pytest.mark.parametrize(
    ("older", "jinja"),
    [
        ("{{user_input}} {{context.mcp}}", "{{user_input}} {{context.mcp}}"),
        ("[[${a.b}]]", "{{ a.b }}"),
        ("[(${a.b})]", "{{ a.b }}"),
        ("[${a.b}]", "{{ a.b }}"),
        ("#{a.b}", "{{ a.b }}"),
        ("#{standalone_query ?: user_input}", "{{ standalone_query|if_blank(user_input) }}"),
        ("{{ a ?: 'b}}' }}", "{{ a|if_blank('b}}') }}"),
        ("{{- a?.b -}}", "{{- a.b -}}"),
        ("#{ {'a':1}['a'] }", "{{ {'a': 1}['a'] }}"),
        ('[# th:if="${c && d}"]x[/]', "{% if c and d %}x{% endif %}"),
        ("[# th:if='${c}']x[/]", "{% if c %}x{% endif %}"),
        ('[# th:unless="${c}"]x[/]', "{% if not (c) %}x{% endif %}"),
        ('[# th:each="i : ${l}"]<[(${i})]>[/]', "{% for i in l %}<{{ i }}>{% endfor %}"),
        (
            '[# th:each="i, stat : ${l}"][# th:if="${i}"]a[/]b[/]',
            "{% for i in l %}{% if i %}a{% endif %}b{% endfor %}",
        ),
    ],
)
def test_the_older_forms_become_jinja(older: str, jinja: str) -> None:
    assert convert(older).text == jinja


@pytest.mark.parametrize(
    "text",
    ["plain", '{"a":1}', "[1, 2]", "[/] # {x}", "{% if a && b %}x{% endif %}", "{# #{x} #}", "{{ '#{y}' }}", "{{ ( }}",
     "{{ a", "#{a", "[${a", "a [# note ] b", "{{ {'a': {'b': 1}} }}"],
)  # fmt: skip
def test_everything_else_stays_as_it_is(text: str) -> None:
    converted = convert(text)

    assert converted.text == text
    assert converted.changes == ()


def test_what_was_changed_is_told_in_order() -> None:
    assert convert("#{a} {{b}} [${c}]").changes == (("#{a}", "{{ a }}"), ("[${c}]", "{{ c }}"))


def test_a_converted_text_converts_to_itself() -> None:
    once = convert('[# th:if="${a ?: b}"]#{c.size()}[/] {{ d ? 1 : 2 }}').text

    assert convert(once).text == once


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("Hi #{T(java.lang.Runtime)}", 4),
        ("[(${new x()})]", 1),
        ("a {{ @bean.x }}", 3),
        ('[# th:if="${a}"]x', 18),
        ('[# th:utext="${a}"]', 1),
        ('[# th:each="${a}"]x[/]', 1),
        ("#{a} " * (MAX_PARTS + 1), MAX_PARTS * 5 + 1),
        ("#{" + "(" * 1900 + "}", 1),
        ('[# th:if="${a}"]' * 3000, MAX_PARTS * 16 + 1),
    ],
)
def test_what_cannot_be_converted_has_its_position(text: str, position: int) -> None:
    with pytest.raises(ConversionError) as caught:
        convert(text)
    assert caught.value.position == position
    assert caught.value.reason


def test_an_expression_has_a_longest_length() -> None:
    text = "#{" + "a" * (MAX_EXPRESSION + 1) + "}"

    assert convert(text).text == text


def test_what_cannot_be_converted_stays_as_it_is() -> None:
    assert to_jinja("Hi #{a}") == "Hi {{ a }}"
    assert to_jinja("Hi #{T(java.lang.Runtime)}") == "Hi #{T(java.lang.Runtime)}"
