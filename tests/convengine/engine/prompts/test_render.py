from typing import Any

import pytest

from convengine.engine.errors import PromptRenderFailed, UnresolvedPromptVariable
from convengine.engine.prompts.render import (
    TemplateError,
    check_template,
    has_expressions,
    list_names,
    measure_prompt_vars,
    render_lenient,
    render_strict,
)
from convengine.server.interfaces.older_templates import to_jinja

VARIABLES: dict[str, Any] = {
    "name": "Al",
    "state": "IDLE",
    "context": {"k": "v", "items": {"a": 1}, "mcp": {"finalAnswer": "ok"}, "nothing": None},
    "mcp_tools": [{"tool_code": "a"}],
    "rows": [{"q": 1, "name": "A"}, {"q": 2, "name": "B"}],
    "n": 5,
    "text": "5",
    "nothing": None,
    "standalone_query": "r",
    "user_input": "what is {{x}}?",
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        pytest.param("Hi [(${name})], {{state}}", "Hi Al, IDLE", id="P2_9_8_V5"),
        pytest.param("{{user_input}}", "what is {{x}}?", id="P2_9_8_V10"),
        pytest.param("#{standalone_query ?: user_input}", "r", id="P2_9_8_V12"),
        pytest.param("{{mcp_tools}}", '[{"tool_code":"a"}]', id="P2_9_8_V13"),
        pytest.param("{{context.items}}", '{"a":1}', id="P2_9_8_V14"),
        pytest.param("Working on {{context.id}}", "Working on ", id="P2_14_4_V8"),
        ("plain text\n", "plain text\n"),
        ("{{name}}\n", "Al\n"),
        ("{{nope}}{{nope.a.b}}{{name.x}}{{nothing}}", ""),
        ("{{n}} {{ n + 1 }} {{ n / 2 }} {{ n > 3 ? 'big' : 'small' }}", "5 6 2.5 big"),
        ("{{ 'a' + n }}{{ text + n }}{{ nothing + 'x' }}", "a555x"),
        ("{{ 'a' ~ rows ~ nothing }}", 'a[{"q":1,"name":"A"},{"q":2,"name":"B"}]'),
        ("{% for r in rows %}{{loop.index}}{{r.name}}{{ loop.cycle('.', '!') }}{% endfor %}", "1A.2B!"),
        ("{% for r in nope %}x{% else %}none{% endfor %}", "none"),
        ("{{ rows|map(attribute='name')|join(', ') }}", "A, B"),
        ("{{ rows|selectattr('q', 'gt', 1)|list }}", '[{"q":2,"name":"B"}]'),
        ("{{ context.items() }}", '[["k","v"],["items",{"a":1}],["mcp",{"finalAnswer":"ok"}],["nothing",null]]'),
        ("{{ context.get('k') }}{{ context['k'] }}{{ rows[0].q }}{{ rows[-1]['name'] }}{{ rows[9] }}", "vv1B"),
        ("{{ context.get('gone', 'x') }}{{ rows.get(1).name }}{{ rows.get(9) }}", "xB"),
        ("{% if nope == null %}a{% endif %}{% if nope %}b{% endif %}{% if not nope %}c{% endif %}", "ac"),
        ("{{ rows.size() }}{{ rows|length }}{{ nope|length }}{{ nothing|length }}", "2200"),
        ("{{ nothing|upper }}{{ name.toUpperCase() }}{{ name.upper() }}", "ALAL"),
        ("{{ name is blank }} {{ nope is blank }} {{ name is defined }}", "false true true"),
        ("{% set x = namespace(a=0) %}{% for i in range(4) %}{% set x.a = x.a + i %}{% endfor %}{{ x.a }}", "6"),
        ("{{ [3, 1]|sort|first }}{{ [3, 1]|max }}{{ [3, 1]|sum }}{{ 2.345|round(1) }}", "1342.3"),
        ("{{ name|replace('l', 'x') }}{{ ['a', nothing, 1]|join('-') }}{{ name|tojson }}", 'Axa--1"Al"'),
        ("{{ {'a': [1, none, true]} }}", '{"a":[1,null,true]}'),
        ('[# th:each="r : ${rows}"]<[(${r.name})]>[/]', "<A><B>"),
        ("{{ range(3) }}", "[0,1,2]"),
        ("{{ button|default('x') }}{% set button = n %}{{ button('y') }}{{ button }}", "x5"),
        ("{{ 0 ?: 'x' }}{{ false ?: 'x' }}{{ '' ?: 'y' }}", "0falsey"),
    ],
)
def test_a_template_renders_as_import_and_save_store_it(template: str, text: str) -> None:
    rendered = render_lenient(to_jinja(template), VARIABLES)

    assert rendered.error is None
    assert rendered.text == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ y }}, {{ y == false }}{% if not y %} else{% endif %}", "yes, no"),
        ("{{ said }}. Next", "It barks. Next"),
        ("{{ asked }}.", "Why?"),
        ("{{ name }}. {{ said }}...", "Al. It barks...."),
        ("at {{ time }} Uhr.", "at 9 Uhr."),
        ("{{ name }}Al, {{ name }} Albert", "AlAl, Al Albert"),
    ],
)
def test_a_sentence_for_people_has_words_for_true_and_one_full_stop(template: str, text: str) -> None:
    values = {"y": True, "said": "It barks.", "asked": "Why?", "name": "Al", "time": "9 Uhr"}

    assert render_lenient(template, values, truth={True: "yes", False: "no"}).text == text
    assert render_lenient("{{ y }} {{ said }}.", values).text == "true It barks.."


def test_P2_9_8_V6_a_broken_template_fails_without_raising() -> None:
    for template in ("{{ ( }}", "{{ n / 0 }}", "{{ T(x) }}", "{{ n() }}", "{% for %}"):
        rendered = render_lenient(template, VARIABLES)

        assert rendered.failed
        assert rendered.text == ""


def test_printed_names_that_nothing_set_are_told() -> None:
    template = (
        "{{nope}} {{context.gone.x}} {{name}} {{context.nothing}} {% for r in rows %}{{r.zz}}{% endfor %}{{ a ~ b }}"
    )

    assert render_lenient(template, VARIABLES).missing == ("nope", "context.gone.x")


def test_a_strict_prompt_renders() -> None:
    prompts = {"system_prompt": "You are {{name}}.", "user_prompt": "{{user_input}}"}

    assert render_strict(prompts, VARIABLES) == {"system_prompt": "You are Al.", "user_prompt": "what is {{x}}?"}


def test_P2_9_8_V9_a_strict_prompt_names_what_is_missing() -> None:
    prompts = {
        "system_prompt": "{{nope}}",
        "user_prompt": "{{context.gone}} {{nothing}} {{nope}} {{ x|if_blank('y') }}",
    }
    with pytest.raises(UnresolvedPromptVariable) as caught:
        render_strict(prompts, VARIABLES, selected=7, session={"intent": "LOAN"})

    assert caught.value.code == "UNRESOLVED_PROMPT_VARIABLE"
    assert caught.value.meta["missingPromptVars"] == ["nope", "context.gone"]
    assert caught.value.meta["promptSelected"] == 7
    assert caught.value.meta["session"] == {"intent": "LOAN"}
    assert caught.value.meta["system_prompt"] == "{{nope}}"


def test_a_name_in_a_branch_that_is_not_taken_is_not_missing() -> None:
    prompts = {"user_prompt": "{% if tool_result %}{{tool_result.status}}{% endif %}ok"}

    assert render_strict(prompts, VARIABLES) == {"user_prompt": "ok"}


def test_a_strict_prompt_that_cannot_render_says_why() -> None:
    with pytest.raises(PromptRenderFailed) as caught:
        render_strict({"user_prompt": "{{ n / 0 }}"}, VARIABLES)

    assert caught.value.meta["errorType"] == "ZeroDivisionError"
    assert caught.value.recoverable


def test_prompt_vars_are_names_and_sizes() -> None:
    assert measure_prompt_vars(["{{context.k}} {{name}} {{nope}}", "{{name}}", ""], VARIABLES) == {
        "context": 67,
        "name": 2,
    }


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("plain", set()),
        ("{{user_input}} {{context.mcp.finalAnswer}}", {"user_input", "context.mcp.finalAnswer"}),
        ("{{ a['b'].c[0].d }}", {"a.b.c"}),
        ("{{ a['b'].c }}", {"a.b.c"}),
        ("{% for r in rows %}{{ r.name }}{{ loop.index }}{{ other }}{% endfor %}", {"rows", "other"}),
        ("{% set x = y.z %}{{ x }}{{ range(n) }}{{ null }}", {"y.z", "n"}),
        ("{{ s.upper() }}{{ d.get(key) }}", {"s", "d", "key"}),
        ("{{ ( }}", set()),
    ],
)
def test_the_names_that_a_template_takes_are_known(template: str, names: set[str]) -> None:
    assert list_names(template) == names


@pytest.mark.parametrize(
    ("template", "position"),
    [
        ("{{ ( }}", 1),
        ("a\nbb\n{{ x | nofilter }}", 6),
        ("{% if a %}", 1),
        ("{% include 'x' %}", 1),
        ("a\n{{ x.__class__ }}", 3),
        ("x" * 70_000 + "{{a}}", 65_537),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_with_its_position(template: str, position: int) -> None:
    with pytest.raises(TemplateError) as caught:
        check_template(template)
    assert caught.value.position == position
    assert caught.value.reason


def test_a_plain_text_is_no_template_however_long() -> None:
    check_template("x" * 100_000)


@pytest.mark.parametrize("text", ["{{", "{%", "{#"])
def test_texts_with_something_to_fill_in_are_known(text: str) -> None:
    assert has_expressions(f"a {text} b")


@pytest.mark.parametrize("text", ["", "plain", "{ { a", "[1]", "#{a}", "[${a}]", "[# note]", "$5 {a}"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert not has_expressions(text)
    assert render_lenient(text, VARIABLES).text == text
