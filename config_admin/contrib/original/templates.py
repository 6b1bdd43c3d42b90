"""Convert older template forms to Jinja2."""

import re
from collections.abc import Callable

from config_admin.contrib.original.expressions import ExpressionError, is_older, translate
from convengine.engine.text.compare import shorten
from convengine.server.interfaces.older_templates import ConversionError, Converted

#: Maximum length of an expression, and maximum number of expressions and tags in a template.
MAX_EXPRESSION = 2000
MAX_PARTS = 1000

#: The start of each kind of part, and its end.
_ENDS = {"{{": "}}", "#{": "}", "[[${": "}]]", "[(${": "})]", "[${": "}]"}
_KEPT = {"{%": "%}", "{#": "#}"}
_BEGIN = re.compile(r"\{%|\{#|\{\{|#\{|\[\[\$\{|\[\(\$\{|\[\$\{|\[#(?=\s*th:)|\[/[a-z:]*\]")
#: One token: a quoted text, a bracket, or everything up to the next of these.
_STEP = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^'\"{}]+|.", re.DOTALL)
_BLOCK = re.compile(r"\[#\s*th:(?P<kind>[a-z]+)=(?P<quote>[\"'])(?P<value>.*?)(?P=quote)\s*\]", re.DOTALL)
_EACH = re.compile(r"\s*(?P<item>\w+)(?:\s*,\s*\w+)?\s*:\s*(?P<items>.*)", re.DOTALL)
_DOLLAR = re.compile(r"\s*\$\{(?P<inner>.*)\}\s*", re.DOTALL)


def convert(text: str) -> Converted:
    """The template in Jinja2. Line breaks keep their positions. Raises ConversionError."""
    return _Conversion(text).run() if _BEGIN.search(text) else Converted(text)


class _Conversion:
    """One pass through a template."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[str] = []
        self._changes: list[tuple[str, str]] = []
        #: The endings of the open older blocks.
        self._open: list[str] = []

    def run(self) -> Converted:
        position, parts = 0, 0
        while part := _BEGIN.search(self._text, position):
            parts += 1
            if parts > MAX_PARTS:
                raise ConversionError(f"it has more than {MAX_PARTS} expressions", part.start() + 1)
            end = self._end(part)
            before = self._text[part.start() : end]
            try:
                after = self._convert_part(part.group(), before)
            except ExpressionError as error:
                raise ConversionError(f"{error} in {shorten(before, 80)}", part.start() + 1) from None
            if after != before:
                self._changes.append((before, after))
            self._pieces += [self._text[position : part.start()], after]
            position = end
        if self._open:
            raise ConversionError("a [# …] block is not closed by [/]", len(self._text) + 1)
        return Converted("".join(self._pieces) + self._text[position:], tuple(self._changes))

    def _end(self, part: re.Match[str]) -> int:
        """The end of a part; directly after its start if it is no part."""
        begin = part.group()
        if begin in _KEPT:
            end = self._text.find(_KEPT[begin], part.end())
            return part.end() if end < 0 else end + 2
        if begin in _ENDS:
            end = _expression_end(self._text, part.end(), _ENDS[begin])
            return part.end() if end < 0 else end + len(_ENDS[begin])
        block = _BLOCK.match(self._text, part.start(), part.start() + MAX_EXPRESSION)
        return block.end() if block else part.end()

    def _convert_part(self, begin: str, before: str) -> str:
        if begin == before and not begin.startswith("[/"):
            return before
        if begin == "{{":
            return _jinja(before)
        if begin in _ENDS:
            return "{{ " + translate(before[len(begin) : -len(_ENDS[begin])]) + " }}"
        if begin.startswith("[#"):
            return self._block(before)
        return f"{{% {self._open.pop()} %}}" if begin.startswith("[/") and self._open else before

    def _block(self, before: str) -> str:
        block = _BLOCK.fullmatch(before)
        if block is None or block["kind"] not in _BLOCKS:
            raise ExpressionError("only th:if, th:unless and th:each are known")
        begin, end = _BLOCKS[block["kind"]](block["value"])
        self._open.append(end)
        return f"{{% {begin} %}}"


def _expression_end(text: str, start: int, closing: str) -> int:
    """The position of `closing` outside of quotes and inner brackets; -1 if absent or too far."""
    depth, position, limit = 0, start, min(len(text), start + MAX_EXPRESSION)
    while position < limit and (step := _STEP.match(text, position, limit + len(closing))):
        if step.group() == "{":
            depth += 1
        elif step.group() == "}":
            if depth == 0 and text.startswith(closing, position):
                return position
            depth = max(0, depth - 1)
        position = step.end()
    return -1


def _jinja(before: str) -> str:
    """Keep Jinja2 expressions unless they contain an older one; Jinja2 refuses broken ones."""
    core = before[2:-2]
    left, right = "-" * core.startswith("-"), "-" * core.endswith("-")
    inner = core[len(left) : len(core) - len(right)]
    try:
        older = is_older(inner)
    except ExpressionError:
        return before
    return f"{{{{{left} {translate(inner)} {right}}}}}" if older else before


def _each(value: str) -> tuple[str, str]:
    match = _EACH.fullmatch(value)
    if match is None:
        raise ExpressionError("th:each needs item : ${list}")
    return f"for {match['item']} in {_inner(match['items'])}", "endfor"


def _inner(value: str) -> str:
    match = _DOLLAR.fullmatch(value)
    return translate(match["inner"] if match else value)


#: The start and end of each older block in Jinja2.
_BLOCKS: dict[str, Callable[[str], tuple[str, str]]] = {
    "if": lambda value: (f"if {_inner(value)}", "endif"),
    "unless": lambda value: (f"if not ({_inner(value)})", "endif"),
    "each": _each,
}
