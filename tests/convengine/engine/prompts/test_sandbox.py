"""Nothing that an analyst types can reach, hang or own the server."""

import time
from typing import Any

import pytest

from convengine.engine.prompts.render import render_lenient
from convengine.engine.prompts.values import MAX_OUTPUT, RenderLimit
from convengine.server.interfaces.older_templates import to_jinja
from tests.cases import for_each

SECRET = "s3cret-value"


class Leak:
    """Something that a caller should not have put among the values."""

    token = SECRET

    def method(self) -> str:
        return SECRET


VARIABLES: dict[str, Any] = {
    "name": "Al",
    "rows": [{"a": 1}],
    "context": {"k": "v"},
    "n": 5,
    "leak": Leak(),
    "big": "x" * 200_000,
    "many": list(range(5000)),
    "deep": {"a": {"b": {"c": 1}}},
    "tree": {"rows": [{"no": n, "tags": ["a", "b"]} for n in range(3000)]},
    "same": {"rows": [{"no": n, "tags": ["a", "b"]} for n in range(3000)]},
}

#: Ways out that are known for Jinja2 and other template languages. None may print anything but itself or nothing.
ESCAPES = [
    "{{ ''.__class__ }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''['__class__'] }}",
    "{{ ''|attr('__class__') }}",
    "{{ name.__init__ }}",
    "{{ name['__init__'] }}",
    "{{ rows.__len__() }}",
    "{{ rows|map(attribute='__class__')|list }}",
    "{{ [name]|map(attribute='__class__')|list }}",
    "{{ rows|map('attr', '__class__')|list }}",
    "{{ rows|sort(attribute='__class__') }}",
    "{{ context.__class__ }}",
    "{{ context.get.__self__ }}",
    "{{ context.get('__class__') }}",
    "{{ self }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ request }}",
    "{{ config }}",
    "{{ cycler }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ lipsum() }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ namespace }}",
    "{% set x = namespace(a=1) %}{{ x.__class__ }}",
    "{% set x = namespace(a=1) %}{{ x._Namespace__attrs }}",
    "{% set x = namespace(a=1) %}{{ x['__class__'] }}",
    "{{ range.__class__ }}",
    "{{ range }}",
    "{{ dict }}",
    "{{ dict(a=1) }}",
    "{{ get_flashed_messages.__globals__ }}",
    "{{ url_for.__globals__ }}",
    "{{ ''.format }}",
    "{{ '{0.__class__}'.format(name) }}",
    "{{ '{0.__class__}'.format_map(context) }}",
    "{{ '%s' % leak.token }}",
    "{{ '%s'|format(leak) }}",
    "{{ leak }}",
    "{{ leak.token }}",
    "{{ leak['token'] }}",
    "{{ leak.method() }}",
    "{{ leak|string }}",
    "{{ leak|tojson }}",
    "{{ leak ~ '' }}",
    "{{ [leak]|join }}",
    "{{ [leak]|map(attribute='token')|join }}",
    "{{ {'a': leak} }}",
    "{{ rows|map('method') }}",
    "{{ [leak]|map('string')|join }}",
    "{{ ''.join }}",
    "{{ name.encode() }}",
    "{{ name.translate({}) }}",
    "{{ rows.append(1) }}",
    "{{ rows.pop() }}",
    "{{ rows.clear() }}",
    "{{ context.update({'k': 1}) }}",
    "{{ context.pop('k') }}",
    "{{ context.setdefault('x', 1) }}",
    "{{ context.clear() }}",
    "{% do rows.append(1) %}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}",
    "{% from 'os' import system %}",
    "{% extends 'base' %}",
    "{% block x %}{% endblock %}",
    "{% macro m() %}{{ caller }}{% endmacro %}",
    "{% call x() %}{% endcall %}",
    "{% filter upper %}x{% endfilter %}",
    "{% set x %}y{% endset %}",
    "{% autoescape true %}x{% endautoescape %}",
    "{% debug %}",
    "{% for i in rows recursive %}{{ loop(rows) }}{% endfor %}",
    "{% for i in rows %}{{ loop.__class__ }}{{ loop._iterable }}{% endfor %}",
    "{{ (range)(3) }}",
    "{{ [range][0](3) }}",
    "{{ name.upper.__self__ }}",
    "{{ name.upper.__func__ }}",
    "{{ range(*[3]) }}",
    "{{ namespace(**context) }}",
    "{{ ' work' }}{{ [name]|map(' called', '__class__')|list }}",
    "{{ rows|map(' named', 'x')|map(attribute='__class__')|list }}",
    "{{ T(java.lang.Runtime).getRuntime().exec('id') }}",
    "#{T(java.lang.Runtime).getRuntime()}",
    "[(${T(java.lang.System).getenv()})]",
    "[[${new java.io.File('/etc/passwd')}]]",
    "[${@environment.getProperty('secret')}]",
    "#{''.getClass().forName('java.lang.Runtime')}",
    "#{#ctx.getVariables()}",
    "{{ __import__('os').system('id') }}",
    "{{ __builtins__ }}",
    "{{ eval('1') }}",
    "{{ open('/etc/passwd').read() }}",
    "{{ ().__class__.__bases__[0] }}",
    "{{ (1).__class__ }}",
    "{{ none.__class__ }}",
    "{{ nope.__class__ }}",
    "{{ nope.__init__.__globals__ }}",
    # Ways round the ban on `format` that were once holes of the sandbox (CVE-2016-10745, 2019-10906, 2024-56326).
    "{% set f = '{0.__class__}'.format %}{{ f(name) }}",
    "{{ ('{0.token}'|attr('format'))(leak) }}",
    "{{ ['{0.token}']|map('format', leak)|join }}",
    "{{ rows|map(attribute='format')|list }}",
    "{{ '{0.token}'['format'](leak) }}",
    "{{ {'f': '{0.token}'.format}.f(leak) }}",
    # And round the ban on names that begin with an underscore (CVE-2025-27516, and escapes in texts).
    "{{ name|attr('\\x5f\\x5fclass\\x5f\\x5f') }}",
    "{{ name['\\x5f\\x5fclass\\x5f\\x5f'] }}",
    "{{ name['__cla' ~ 'ss__'] }}",
    "{{ name[['__class', '__']|join] }}",
    "{{ name|attr(['__class', '__']|join) }}",
    "{{ [leak]|map(attribute='tok' ~ 'en')|join }}",
    "{{ [leak]|selectattr('token')|list }}",
    "{{ [leak]|sort(attribute='token') }}",
    "{{ [leak]|groupby('token') }}",
    "{{ {'a b=1': 1}|xmlattr }}",
    "{{ leak|pprint }}",
    "{{ [leak]|unique(attribute='token')|first }}",
    "{{ [leak]|max(attribute='token') }}",
    "{% for x in leak %}{{ x }}{% endfor %}",
    "{% for k, v in leak.__dict__.items() %}{{ v }}{% endfor %}",
    "{% if leak.token == 's3cret-value' %}Leak{% endif %}",
    "{{ promptVars.__class__ }}",
    "{{ loop.__init__ }}",
    "{{ caller() }}",
    "{{ super() }}",
    "{{ varargs }}{{ kwargs }}",
    "{% with x = leak.token %}{{ x }}{% endwith %}",
    "{% trans %}{{ leak.token }}{% endtrans %}",
    "{% import 'x' as y with context %}",
    "{{ environment }}{{ eval_ctx }}{{ resolve }}",
    "{{ name.__doc__ }}",
    "{{ (name, name).__class__.__base__.__subclasses__() }}",
    "{{ context|items|first|attr('__class__') }}",
    "{{ leak is callable }}",
    "{{ 'token' in leak }}",
    "{{ leak[0] }}{{ leak[:] }}",
    "{{ leak < 1 }}",
    "{{ leak + '' }}",
    "{{ '' + leak }}",
    "{{ -leak }}",
    "{{ leak|length }}",
    "{{ leak|int }}{{ leak|float }}",
]


@for_each("template", ESCAPES)
def test_there_is_no_way_out(template: str) -> None:
    before = repr(VARIABLES["rows"]), repr(VARIABLES["context"])
    rendered = render_lenient(to_jinja(template), VARIABLES)

    for sign in (
        SECRET,
        "<class",
        "built-in",
        "object at",
        "root:",
        "uid=",
        "Undefined",
        "globals",
        "<function",
        "Leak",
    ):
        assert sign not in rendered.text
    assert rendered.failed or rendered.text == template or len(rendered.text) < 40
    assert (repr(VARIABLES["rows"]), repr(VARIABLES["context"])) == before


def test_there_are_enough_of_them() -> None:
    assert len(set(ESCAPES)) >= 60


#: Ways to work for ever, or to make much of little.
BOMBS = {
    "nested loops": "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}",
    "nested loops over values": "{% for a in many %}{% for b in many %}{{ a }}{% endfor %}{% endfor %}",
    "a large range": "{{ range(100000) }}",
    "many ranges": "{% for a in range(100) %}{% set x = range(10000) %}{% endfor %}",
    "a text times a number": "{{ 'x' * 1000000000 }}",
    "a list times a number": "{{ [1] * 1000000000 }}",
    "a power": "{{ 9 ** 9 ** 9 }}",
    "a negative power of a negative": "{{ (-8) ** 0.5 }}",
    "squares of squares": "{% set x = namespace(a=3) %}{% for i in range(99) %}{% set x.a = x.a * x.a %}{% endfor %}",
    "a doubled text": "{% set x = namespace(a='a') %}{% for i in range(99) %}{% set x.a = x.a ~ x.a %}{% endfor %}",
    "an added text": "{% set x = namespace(a='a') %}{% for i in range(99) %}{% set x.a = x.a + x.a %}{% endfor %}",
    "a doubled list": "{% set x = namespace(a=[1]) %}{% for i in range(99) %}{% set x.a = x.a + x.a %}{% endfor %}",
    "a list of itself twice": "{% set x = namespace(a=[1]) %}{% for i in range(60) %}"
    "{% set x.a = [x.a, x.a] %}{% endfor %}{{ x.a }}",
    "a pair of itself": "{% set x = namespace(a=(1, big)) %}{% for i in range(60) %}"
    "{% set x.a = (x.a, x.a) %}{% endfor %}{{ x.a|tojson }}",
    "an object of itself twice": "{% set x = namespace(a={}) %}{% for i in range(60) %}"
    "{% set x.a = {'a': x.a, 'b': x.a} %}{% endfor %}{{ x.a }}",
    "what holds itself, compared": "{% set x = namespace(a=[1], b=[1]) %}{% for i in range(60) %}"
    "{% set x.a = [x.a, x.a] %}{% set x.b = [x.b, x.b] %}{% endfor %}{{ x.a == x.b }}",
    "one value in the place of each": "{% set x = namespace(a=many) %}{% for i in range(9) %}"
    "{% set x.a = many|map(attribute='no')|map('default', x.a, true)|list %}{% endfor %}{{ x.a }}",
    "a long text many times over": "{% set x = namespace(a=[big]) %}{% for i in range(13) %}"
    "{% set x.a = x.a + x.a %}{% endfor %}{{ x.a }}",
    "deep comparisons": "{% for a in range(10000) %}{% if tree == same %}{% endif %}{% endfor %}",
    "a wide format": "{{ '%1000000000d' % 1 }}",
    "a long join": "{{ many|join(big) }}",
    "a long replacement": "{{ big|replace('x', big) }}",
    "much output": "{{ big }}" * 3,
    "much output in a loop": "{% for a in range(10000) %}{{ many }}{% endfor %}",
    "long attributes": "{{ many|map(attribute='" + "a." * 20_000 + "b')|list }}",
    "a search in each": "{% for a in many %}{{ a in many }}{% endfor %}",
    "a select in each": "{{ many|select('in', many)|list }}",
    "comparisons": "{% for a in range(10000) %}{% if many == rows %}{% endif %}{% endfor %}",
    "slices": "{% for a in range(10000) %}{% set x = big[1:] %}{% endfor %}",
    "filters on a long text": "{% for a in range(10000) %}{{ big|upper|length }}{% endfor %}",
    "methods on a long text": "{% for a in range(10000) %}{{ big.find('xxxy') }}{% endfor %}",
    "work given back": "{{ many|map(' each', -1000000)|map('list')|list }}" * 50,
}


@pytest.mark.parametrize("template", BOMBS.values(), ids=BOMBS)
def test_no_template_works_for_ever(template: str) -> None:
    began = time.thread_time()
    rendered = render_lenient(template, VARIABLES)

    assert rendered.failed
    assert time.thread_time() - began < 3  # a guard against hanging; what is bounded is the count of work


#: Ways to make reading a template expensive.
HARD_TO_READ = {
    "brackets": "{{ " + "(" * 5000 + "a" + ")" * 5000 + " }}",
    "members": "{{ a" + ".b" * 20_000 + " }}",
    "negations": "{{ " + "not " * 10_000 + "a }}",
    "filters": "{{ a" + "|string" * 8_000 + " }}",
    "sums": "{{ " + "+".join(["a"] * 20_000) + " }}",
    "a list": "{{ [" + ",".join(["1"] * 30_000) + "] }}",
    "objects": "{{ " + "{'a':" * 3000 + "1" + "}" * 3000 + " }}",
    "ternaries": "{{ " + "a if a else " * 5000 + "a }}",
    "loops in loops": "".join(f"{{% for i{n} in a %}}" for n in range(30)) + "{% endfor %}" * 30,
    "expressions": "{{a+b}}" * 9000,
    "beginnings": "{{" * 30_000,
    "comments": "{#" * 30_000,
    "quotes": "{{ " + "'\"" * 20_000 + " }}",
}


@pytest.mark.parametrize("template", HARD_TO_READ.values(), ids=HARD_TO_READ)
def test_no_template_is_read_for_ever(template: str) -> None:
    began = time.process_time()
    rendered = render_lenient(template, VARIABLES)

    assert rendered.failed
    assert time.process_time() - began < 3


def test_a_broken_template_is_read_once() -> None:
    template = "{{ [" + ",".join(["1"] * 29_000) + "] }}"
    render_lenient(template, VARIABLES)
    began = time.process_time()
    render_lenient(template, VARIABLES)

    assert time.process_time() - began < 0.05


def test_the_limit_is_the_same_every_time() -> None:
    template = "{% for a in many %}{% for b in many %}x{% endfor %}{% endfor %}"
    first, second = (render_lenient(template, VARIABLES) for _ in range(2))

    assert isinstance(first.error, RenderLimit)
    assert str(first.error) == str(second.error)


def test_what_a_real_prompt_does_is_far_from_the_limit() -> None:
    rows = [{"sku": f"A-{n}", "price": n * 1.5, "tags": ["x", "y"]} for n in range(500)]
    template = (
        "{% for r in rows %}{{ r.sku }}: {{ r.price|round(1) }} {{ r.tags|join('/') }}"
        "{% if r.price > 9 %}!{% endif %}\n{% endfor %}"
    )
    rendered = render_lenient(template, {"rows": rows})

    assert rendered.error is None
    assert rendered.text.startswith("A-0: 0.0 x/y\n")


def test_rounding_to_absurd_places_is_cut_to_what_numbers_have() -> None:
    assert render_lenient("{{ 5|round(-1000000000) }} {{ 1.5|round(1000000000) }}", {}).text == "0.0 1.5"


def test_output_up_to_the_limit_is_fine() -> None:
    assert len(render_lenient("{{ big }}", {"big": "x" * MAX_OUTPUT}).text) == MAX_OUTPUT
