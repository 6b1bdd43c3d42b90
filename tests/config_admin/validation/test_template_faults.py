"""A faulty template is told with line, column and the nearest name."""

import pytest

from config_admin.validation.template_faults import describe_template_fault, locate_name
from convengine.engine.prompts import render


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Hi {{ user_input", "Line 1, column 4: }} is missing."),
        ("Hi {{ user_input }", "Line 1, column 4: }} is missing."),
        (
            "Hi {{ user input }}",
            "Line 1, column 12: “input” is not expected here. Write }} before it, or an operator.",
        ),
        ("a\n{% if x %}b\n{{ y }}", "Line 2, column 1: {% if %} is not closed. Add {% endif %}."),
        (
            "{% if x %}{% for a in b %}{% endif %}",
            "Line 1, column 11: {% for %} is not closed. Add {% endfor %}.",
        ),
        ("x{% endif %}", "Line 1, column 5: {% endif %} closes nothing. {% if … %} is missing before it."),
        ("{% iff x %}b{% endif %}", "Line 1, column 4: there is no tag iff. Did you mean if?"),
        ("{{ a }}\n and {{ x|uper }}", "Line 2, column 11: there is no filter uper. Did you mean upper?"),
        ("{{ f(1) }}", "Line 1, column 4: there is no function f."),
        ("{{ x.foo() }}", "Line 1, column 6: there is no method foo."),
        ("{{ x is foo }}", "Line 1, column 9: there is no test foo."),
        ("{{ a }} {{ }}", "Line 1, column 9: a name or a value is missing before }}."),
        ("{% for x of y %}{% endfor %}", "Line 1, column 10: “of” is not expected here. Expected: in."),
        ("{{ 'a }}", "Line 1, column 1: a quotation mark has no partner."),
        ("{{ x.__class__ }}", "Line 1, column 6: __class__ is not available in templates."),
        ("{{ a[1 }}", "Line 1, column 1: }} is missing."),
        ("{{ $x }}", "Line 1, column 4: “$” is not expected here."),
        ("a {# b", "Line 1, column 3: #} is missing."),
        ("{{ a }}{% raw %}b", "Line 1, column 8: {% raw %} is not closed. Add {% endraw %}."),
        ("{{ 'uper'|uper }}", "Line 1, column 11: there is no filter uper. Did you mean upper?"),
        ("{{ '}}' }}\n{{ x|uper }}", "Line 2, column 6: there is no filter uper. Did you mean upper?"),
        ("{% if x %}\r\n{{ f(1) }}\r\n{% endif %}", "Line 2, column 4: there is no function f."),
        ("{% if x -%}\n\n{{- f(1) }}{% endif %}", "Line 3, column 5: there is no function f."),
        ("A\n{% or %}\nB {{ x|uper }}", "Line 3, column 8: there is no filter uper. Did you mean upper?"),
        ("A {{ x|uper }}\n{% or %}", "Line 1, column 8: there is no filter uper. Did you mean upper?"),
        ("{% or %}\nA", "Line 1, column 1: text 1 is empty: write it, or remove a line {% or %}."),
        ("A\n{% or %}\n{{ x }}\n{% or %}", "Line 4, column 1: text 3 is empty: write it, or remove a line {% or %}."),
        (
            "{{ y }}\n{% if x %}\nA\n{% or %}\nB\n{% endif %}",
            "Line 4, column 1: a block begins before {% or %} and ends after it: each text needs the whole block.",
        ),
        ("A {% or %} B", "Line 1, column 6: {% or %} needs a line of its own."),
        ("{% else %}", "Line 1, column 4: {% else %} is not expected here."),
    ],
)
def test_a_fault_is_told_where_it_is(text: str, message: str) -> None:
    assert describe(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{% set b %}text\n{% set a = 1 %}", "Line 1, column 1: {% set %} is not closed. Add {% endset %}."),
        ("{# {% if x %} #}\n{% if y %}", "Line 2, column 1: {% if %} is not closed. Add {% endif %}."),
        ("{% if y %}\n{# {% if x %} #}", "Line 1, column 1: {% if %} is not closed. Add {% endif %}."),
        ("{% if y %}\n{% raw %}{% if x %}{% endraw %}", "Line 1, column 1: {% if %} is not closed. Add {% endif %}."),
        (
            "{% if x %}{% endif %}{% endif %}",
            "Line 1, column 25: {% endif %} closes nothing. {% if … %} is missing before it.",
        ),
        ("{% raw %}{{{% endraw %} {{ }}", "Line 1, column 25: a name or a value is missing before }}."),
        ("{% if x %}{% elif %}{% endif %}{{ a }}", "Line 1, column 11: a name or a value is missing before %}."),
    ],
)
def test_a_tag_counts_only_where_it_is_one(text: str, message: str) -> None:
    assert describe(text) == message


def test_a_long_template_with_a_fault_is_compiled_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    check = render.check_template
    monkeypatch.setattr(render, "check_template", lambda text: (compiled.append(text), check(text)))

    assert describe("{{ a }}" * 500 + "{{ x|uper }}").startswith("Line 1, column 3506:")
    assert len(compiled) < 15


def describe(text: str) -> str:
    with pytest.raises(render.TemplateError) as raised:
        render.check_template(text)
    return describe_template_fault(text, raised.value)


def test_a_name_is_found_where_it_is_used_first() -> None:
    assert locate_name("colour\n{{ a.colour }} {{ colour }}", "colour") == "line 2, column 19"
    assert locate_name("{# colour #}{{ 'colour' }} {{ colour }}", "colour") == "line 1, column 31"
