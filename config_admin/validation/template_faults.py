"""What is wrong with a template, and where: line, column, and the nearest name that there is."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from jinja2 import TemplateSyntaxError

from convengine.engine.prompts import render
from convengine.engine.prompts.filters import METHOD_NAMES
from convengine.engine.prompts.sandbox import FUNCTIONS, Sandbox
from convengine.engine.text.wording import did_you_mean

_SANDBOX = Sandbox()
_BLOCKS = ("if", "for", "set", "with", "macro", "filter", "raw")
#: Other blocks of Jinja. Templates may not have them, but a faulty one can.
_REFUSED_BLOCKS = ("block", "call", "autoescape")
_WORDS = ("if", "elif", "else", "endif", "for", "endfor", "set", "endset", "with", "endwith", "raw", "endraw")
#: How a tag is closed, in the parser's words.
_CLOSING = {"end of print statement": "}}", "end of statement block": "%}"}


class TemplateFault(NamedTuple):
    """A sentence about the fault, without its end; the faulty text, if it has one; and a hint."""

    sentence: str
    text: str = ""
    hint: str = ""
    #: True for a block that is not closed: the fault is where the block begins.
    is_unclosed: bool = False


class _Token(NamedTuple):
    """A token of Jinja's lexer, and where it is."""

    offset: int
    kind: str
    value: str


class _Tag(NamedTuple):
    """An expression or a statement in a template, with its delimiters as first and last tokens."""

    tokens: list[_Token]
    end: int
    #: False for a tag that has no end, or a character that no tag may have. Then it reaches to the end of the text.
    is_complete: bool = True

    @property
    def start(self) -> int:
        return self.tokens[0].offset

    @property
    def word(self) -> str:
        """The first word of a statement; blank for an expression, and for `set` with a value, which has no end."""
        begin, *words = self.tokens
        if begin.kind != "block_begin" or not words:
            return ""
        has_value = words[0].value == "set" and any(token.value == "=" for token in words)
        return "" if has_value else words[0].value

    def find(self, text: str) -> int:
        """Where it has this text as a token, or else where it begins."""
        return next((token.offset for token in self.tokens[1:] if token.value == text), self.start)


def describe_template_fault(text: str, error: render.TemplateError) -> str:
    """`Line 2, column 9: there is no filter uper. Did you mean upper?`"""
    fault = _read_reason(error.reason)
    unified, line_start = _unify_line_breaks(text), len(_unify_line_breaks(text[: error.position - 1]))
    return f"{_format_position(unified, _locate(unified, fault, line_start))}: {fault.sentence}.{fault.hint}"


def locate_name(text: str, name: str) -> str:
    """Where a template uses a name first: `line 2, column 9`."""
    text = _unify_line_breaks(text)
    tokens = [token for tag in _list_tags(text) for token in tag.tokens]
    hits = (
        token.offset
        for before, token in pairwise(tokens)
        if (token.kind, token.value) == ("name", name) and before.value != "."
    )
    return _format_position(text, next(hits, 0)).lower()


def _unify_line_breaks(text: str) -> str:
    """The text as Jinja's lexer reads it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _format_position(text: str, offset: int) -> str:
    line, column = text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1
    return f"Line {line}, column {column}"


def _read_reason(reason: str) -> TemplateFault:
    for pattern, build in _REASONS.items():
        if match := re.search(pattern, reason):
            return build(match)
    return TemplateFault(reason.rstrip("."))


def _report_unclosed(word: str) -> TemplateFault:
    return TemplateFault(f"{{% {word} %}} is not closed", hint=f" Add {{% end{word} %}}.", is_unclosed=True)


def _report_unexpected(expected: str, word: str) -> TemplateFault:
    closing = _CLOSING.get(expected)
    if word in _CLOSING:
        return TemplateFault(f"{expected} is missing before {_CLOSING[word]}")
    hint = f" Write {closing} before it, or an operator." if closing else f" Expected: {expected}."
    return TemplateFault(f"“{word}” is not expected here", word, hint)


def _report_unknown_tag(word: str) -> TemplateFault:
    if word == "or":
        return TemplateFault("{% or %} needs a line of its own", word)
    opener = word.removeprefix("end")
    if opener != word and opener in _BLOCKS:
        return TemplateFault(f"{{% {word} %}} closes nothing", word, f" {{% {opener} … %}} is missing before it.")
    if word in _WORDS:
        return TemplateFault(f"{{% {word} %}} is not expected here", word)
    return TemplateFault(f"there is no tag {word}", word, did_you_mean(word, _WORDS))


def _report_unknown(
    noun: str, name: str, known: Iterator[str] | frozenset[str] | Mapping[str, object]
) -> TemplateFault:
    return TemplateFault(f"there is no {noun} {name}", name, did_you_mean(name, known))


#: The parser's reasons, and the same in words of the page.
_REASONS: Mapping[str, Callable[[re.Match[str]], TemplateFault]] = {
    r"nesting mistake.*innermost block that needs to be closed is '(\w+)'": lambda match: _report_unclosed(match[1]),
    r"end of template\. .*innermost block that needs to be closed is '(\w+)'": lambda match: _report_unclosed(match[1]),
    r"unexpected end of template, expected '(.+?)'": lambda match: TemplateFault(
        f"{_CLOSING.get(match[1], match[1])} is missing"
    ),
    r"expected token '(.+?)', got '(.+?)'": lambda match: _report_unexpected(match[1], match[2]),
    r"Expected an expression, got '(.+?)'": lambda match: TemplateFault(
        f"a name or a value is missing before {_CLOSING.get(match[1], match[1])}"
    ),
    r"Encountered unknown tag '(\w+)'": lambda match: _report_unknown_tag(match[1]),
    r"No filter named '(.+?)'": lambda match: _report_unknown("filter", match[1], _SANDBOX.filters),
    r"No test named '(.+?)'": lambda match: _report_unknown("test", match[1], _SANDBOX.tests),
    r"there is no function (\S+)": lambda match: _report_unknown("function", match[1], FUNCTIONS),
    r"there is no method (\S+)": lambda match: _report_unknown("method", match[1], METHOD_NAMES),
    r"^(\S+) is not available in templates": lambda match: TemplateFault(
        f"{match[1]} is not available in templates", match[1]
    ),
    r"unexpected '}'": lambda match: TemplateFault("}} is missing"),
    r"unexpected '(.+?)'": lambda match: TemplateFault(f"“{match[1]}” is not expected here", match[1]),
    r"unexpected char (?:\"'\"|'\"')": lambda match: TemplateFault("a quotation mark has no partner"),
    r"unexpected char '(.+?)'": lambda match: TemplateFault(f"“{match[1]}” is not expected here", match[1]),
    r"Missing end of comment": lambda match: TemplateFault("#} is missing"),
    r"Missing end of raw": lambda match: _report_unclosed("raw")._replace(is_unclosed=False),
}


def _locate(text: str, fault: TemplateFault, line_start: int) -> int:
    """The offset of the fault: of its text in the faulty tag, of that tag, or of the block that is not closed.

    Else `line_start`, for a fault that no beginning of the template has.
    """
    tags = _list_tags(text)
    # The beginning up to the faulty tag has the fault, and so has each longer one.
    index = bisect_left(tags, True, key=lambda tag: not tag.is_complete or _find_fault(text[: tag.end], tags) == fault)
    if fault.is_unclosed and (open_tags := _list_open_tags(tags[: index + 1])):
        return open_tags[-1].start
    return tags[index].find(fault.text) if index < len(tags) else line_start


def _find_fault(beginning: str, tags: Iterable[_Tag]) -> TemplateFault | None:
    """The fault of a beginning of a template with these tags, once its open blocks are closed. None if it is valid."""
    open_tags = _list_open_tags(tag for tag in tags if tag.end <= len(beginning))
    try:
        render.check_template(beginning + "\n" + "".join(f"{{% end{tag.word} %}}" for tag in reversed(open_tags)))
    except render.TemplateError as error:
        return _read_reason(error.reason)
    return None


def _list_open_tags(tags: Iterable[_Tag]) -> list[_Tag]:
    """The tags whose blocks are not closed after the last of these, from outside to inside."""
    open_tags: list[_Tag] = []
    for tag in tags:
        if tag.word in (*_BLOCKS, *_REFUSED_BLOCKS):
            open_tags.append(tag)
        elif open_tags and tag.word == f"end{open_tags[-1].word}":
            open_tags.pop()
    return open_tags


def _list_tags(text: str) -> list[_Tag]:
    """The expressions and statements of a template, without what comments and raw blocks contain.

    The last one is incomplete if the text cannot be read to its end; it may be a comment or the tag of a raw block.
    """
    tags: list[_Tag] = []
    tokens: list[_Token] = []
    cursor = 0
    try:
        for _, kind, value in _SANDBOX.lex(text):
            # The lexer leaves out blanks before a tag with a minus.
            token = _Token(text.index(value, cursor), kind, value)
            cursor = token.offset + len(value)
            if kind.endswith("_begin"):
                tokens = [token]
            elif kind in ("variable_end", "block_end"):
                tags.append(_Tag([*tokens, token], cursor))
                tokens = []
            elif kind.endswith("_end"):
                tokens = []
            elif tokens and kind != "whitespace":
                tokens.append(token)
    except TemplateSyntaxError:
        tokens.append(_Token(cursor, "unreadable", text[cursor : cursor + 1]))
    return [*tags, _Tag(tokens, len(text), is_complete=False)] if tokens else tags
