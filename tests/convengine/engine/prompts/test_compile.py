import pytest

from convengine.engine.prompts.compile import MAX_TEMPLATE, TemplateError, compile_template


def test_a_template_is_compiled_once() -> None:
    assert compile_template("{{once}}") is compile_template("{{once}}")


def test_a_refusal_is_kept_and_raised_anew() -> None:
    errors = []
    for _ in range(2):
        with pytest.raises(TemplateError) as caught:
            compile_template("{{ ( }}")
        errors.append(caught.value)

    assert errors[0] is not errors[1]
    assert errors[0].reason == errors[1].reason


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{% include 'x' %}", "include is not available"),
        ("{{ f(1) }}", "there is no function f"),
        ("{{ a.f(1) }}", "there is no method f"),
        ("{{ button(lable='x') }}", "a button has a label"),
        ("{{ button(1, 2, 3) }}", "a button has a label"),
        ("{{ a.get(x=1) }}", "takes no named values"),
        ("{{ range(*a) }}", "values spelled out"),
        ("{{ a[0](1) }}", "by their names"),
        ("{{ a._b }}", "_b is not available"),
        ("{{ __a }}", "__a is not available"),
        ("{% for i in a recursive %}{% endfor %}", "recursive loops"),
        ("{{ a|nofilter }}", "nofilter"),
        ("{{ a is notest }}", "notest"),
        ("{{ " + "a" * MAX_TEMPLATE + " }}", "longer than"),
    ],
)
def test_what_a_template_may_not_hold_is_named(template: str, reason: str) -> None:
    with pytest.raises(TemplateError, match=reason):
        compile_template(template)
