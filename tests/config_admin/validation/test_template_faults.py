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
    ],
)
def test_a_fault_is_told_where_it_is(text: str, message: str) -> None:
    with pytest.raises(render.TemplateError) as raised:
        render.check_template(text)

    assert describe_template_fault(text, raised.value) == message


def test_a_name_is_found_where_it_is_used_first() -> None:
    assert locate_name("colour\n{{ a.colour }} {{ colour }}", "colour") == "line 2, column 19"
