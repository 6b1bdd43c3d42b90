"""What is wrong with a template, and where: line, column, and the nearest name that there is."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from convengine.engine.prompts import render
from convengine.engine.prompts.filters import METHOD_NAMES
from convengine.engine.prompts.sandbox import FUNCTIONS, Sandbox
from convengine.engine.text.wording import did_you_mean

_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{[{%].*", re.DOTALL)
_STATEMENT = re.compile(r"\{%-?\s*(?P<end>end)?(?P<word>\w+)")
_SANDBOX = Sandbox()
_BLOCKS = ("if", "for", "set", "with", "macro", "filter", "raw")
_WORDS = ("if", "elif", "else", "endif", "for", "endfor", "set", "endset", "with", "endwith", "raw", "endraw")
#: How a tag is closed, in the parser's words.
_CLOSING = {"end of print statement": "}}", "end of statement block": "%}"}


class Fault(NamedTuple):
    """A sentence about the fault, without its end; the faulty text, if it has one; and a hint."""

    sentence: str
    text: str = ""
    hint: str = ""


def describe_template_fault(text: str, error: render.TemplateError) -> str:
    """`Line 2, column 9: there is no filter uper. Did you mean upper?`"""
    fault = _read_reason(error.reason)
    return f"{_format_position(text, _locate(text, fault, error.position - 1))}: {fault.sentence}.{fault.hint}"


def locate_name(text: str, name: str) -> str:
    """Where a template uses a name first: `line 2, column 9`."""
    named = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    hits = (
        match.start() for tag in _TAG.finditer(text) for match in [named.search(text, tag.start(), tag.end())] if match
    )
    return _format_position(text, next(hits, 0)).lower()


def _format_position(text: str, offset: int) -> str:
    line, column = text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1
    return f"Line {line}, column {column}"


def _read_reason(reason: str) -> Fault:
    for pattern, build in _REASONS.items():
        if match := re.search(pattern, reason):
            return build(match)
    return Fault(reason.rstrip("."))


def _report_unclosed(word: str) -> Fault:
    return Fault(f"{{% {word} %}} is not closed", f" {word}", f" Add {{% end{word} %}}.")


def _report_unexpected(expected: str, word: str) -> Fault:
    closing = _CLOSING.get(expected)
    if word in _CLOSING:
        return Fault(f"{expected} is missing before {_CLOSING[word]}")
    hint = f" Write {closing} before it, or an operator." if closing else f" Expected: {expected}."
    return Fault(f"“{word}” is not expected here", word, hint)


def _report_unknown_tag(word: str) -> Fault:
    opener = word.removeprefix("end")
    if opener != word and opener in _BLOCKS:
        return Fault(f"{{% {word} %}} closes nothing", word, f" {{% {opener} … %}} is missing before it.")
    return Fault(f"there is no tag {word}", word, did_you_mean(word, _WORDS))


def _report_unknown(noun: str, name: str, known: Iterator[str] | frozenset[str] | Mapping[str, object]) -> Fault:
    return Fault(f"there is no {noun} {name}", name, did_you_mean(name, known))


#: The parser's reasons, and the same in words of the page.
_REASONS: Mapping[str, Callable[[re.Match[str]], Fault]] = {
    r"nesting mistake.*innermost block that needs to be closed is '(\w+)'": lambda match: _report_unclosed(match[1]),
    r"end of template\. .*innermost block that needs to be closed is '(\w+)'": lambda match: _report_unclosed(match[1]),
    r"unexpected end of template, expected '(.+?)'": lambda match: Fault(
        f"{_CLOSING.get(match[1], match[1])} is missing"
    ),
    r"expected token '(.+?)', got '(.+?)'": lambda match: _report_unexpected(match[1], match[2]),
    r"Expected an expression, got '(.+?)'": lambda match: Fault(
        f"a name or a value is missing before {_CLOSING.get(match[1], match[1])}"
    ),
    r"Encountered unknown tag '(\w+)'": lambda match: _report_unknown_tag(match[1]),
    r"No filter named '(.+?)'": lambda match: _report_unknown("filter", match[1], _SANDBOX.filters),
    r"No test named '(.+?)'": lambda match: _report_unknown("test", match[1], _SANDBOX.tests),
    r"there is no function (\S+)": lambda match: _report_unknown("function", match[1], FUNCTIONS),
    r"there is no method (\S+)": lambda match: _report_unknown("method", match[1], METHOD_NAMES),
    r"^(\S+) is not available in templates": lambda match: Fault(f"{match[1]} is not available in templates", match[1]),
    r"unexpected '}'": lambda match: Fault("}} is missing"),
    r"unexpected '(.+?)'": lambda match: Fault(f"“{match[1]}” is not expected here", match[1]),
    r"unexpected char": lambda match: Fault("a quotation mark has no partner"),
}


def _locate(text: str, fault: Fault, line_start: int) -> int:
    """The offset of the fault: of its text in the faulty tag, or of that tag."""
    if fault.sentence.endswith("is not closed"):
        start = _find_unclosed(text, fault.text.strip())
    else:
        start = next((tag for tag in _iterate_tags(text, line_start) if not _is_valid(text, tag)), line_start)
    if fault.text and not fault.sentence.endswith("is not closed"):
        named = re.compile(
            rf"(?<!\w){re.escape(fault.text)}(?!\w)" if fault.text.isidentifier() else re.escape(fault.text)
        )
        # Of a single brace, the last one of its tag is meant.
        if match := named.search(text, start + 2):
            return match.start()
    return start


def _iterate_tags(text: str, line_start: int) -> Iterator[int]:
    """The tags of the line, and those that follow, because a tag may begin before its fault."""
    for tag in _TAG.finditer(text):
        if tag.end() > line_start:
            yield tag.start()


def _is_valid(text: str, start: int) -> bool:
    """True for a tag that is valid by itself; a statement is completed."""
    tag = _TAG.match(text, start)
    assert tag is not None
    statement = _STATEMENT.match(tag[0])
    if statement is None:
        source = tag[0]
    elif statement["end"] or statement["word"] in ("else", "elif"):
        return statement["word"] in (*_BLOCKS, "else", "elif")
    else:
        source = tag[0] + (f"{{% end{statement['word']} %}}" if statement["word"] in ("if", "for", "with") else "")
    try:
        render.check_template(source)
    except render.TemplateError:
        return False
    return True


def _find_unclosed(text: str, word: str) -> int:
    open_tags: list[int] = []
    for tag in _TAG.finditer(text):
        statement = _STATEMENT.match(tag[0])
        if statement and statement["word"] == word:
            if not statement["end"]:
                open_tags.append(tag.start())
            elif open_tags:
                open_tags.pop()
    return open_tags[-1] if open_tags else 0
