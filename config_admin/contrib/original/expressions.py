"""Translate expressions of older template forms to Jinja2.

A small parser for both: it keeps Jinja2 and rewrites what only the older forms have (Elvis, ternary, `&&`, `eq`, `?.`,
methods). It refuses access to code (`T(…)`, `new …`, `@bean`).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


class ExpressionError(ValueError):
    """An expression that cannot be or must not be translated to Jinja2."""


@dataclass(frozen=True)
class ExpressionToken:
    """A token: `kind` is string, number, name or op."""

    kind: str
    text: str


_TOKEN = re.compile(
    r"\s*(?:(?P<string>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<op>\?:|\?\.|&&|\|\||==|!=|<=|>=|//|\*\*|[-+*/%~|!<>?:.,()\[\]{}=#@]))",
    re.DOTALL,
)
WORDS = {
    "eq": "==", "ne": "!=", "gt": ">", "lt": "<", "ge": ">=", "le": "<=", "div": "/", "mod": "%", "null": "none",
    "nil": "none",
}  # fmt: skip
SIGNS = {"&&": "and", "||": "or"}
#: Methods of the older forms: their Jinja2 for a receiver and its arguments.
METHODS: Mapping[str, tuple[int, Callable[..., str]]] = {
    "size": (0, lambda it: f"{it}|length"),
    "length": (0, lambda it: f"{it}|length"),
    "toUpperCase": (0, lambda it: f"{it}|upper"),
    "toLowerCase": (0, lambda it: f"{it}|lower"),
    "trim": (0, lambda it: f"{it}|trim"),
    "toString": (0, lambda it: f"{it}|string"),
    "isEmpty": (0, lambda it: f"({it} is blank)"),
    "isBlank": (0, lambda it: f"({it} is blank)"),
    "contains": (1, lambda it, part: f"({part} in {it})"),
    "containsKey": (1, lambda it, part: f"({part} in {it})"),
    "equals": (1, lambda it, other: f"({it} == {other})"),
    "equalsIgnoreCase": (1, lambda it, other: f"({it}|lower == {other}|lower)"),
    "startsWith": (1, lambda it, part: f"{it}.startswith({part})"),
    "endsWith": (1, lambda it, part: f"{it}.endswith({part})"),
    "replace": (2, lambda it, old, new: f"{it}|replace({old}, {new})"),
}
#: `#strings.isEmpty(x)` and the like: the helper's method, applied to its first argument.
HELPERS = frozenset({"strings", "lists", "maps", "sets", "arrays"})


def is_older(text: str) -> bool:
    """True when the expression contains older syntax."""
    previous = ""
    for token in tokens(text):
        if token.kind == "op" and (token.text in ("?:", "?.", "?", "&&", "||", "!", "#", "@")):
            return True
        is_method = previous == "." and token.text in METHODS
        if token.kind == "name" and (token.text in WORDS or token.text in ("new", "T") or is_method):
            return True
        if "+" in (token.text, previous) and (token.kind == "string" or previous[:1] in ("'", '"')):
            return True
        previous = token.text
    return False


def tokens(text: str) -> Iterator[ExpressionToken]:
    """The tokens of an expression. Raises ExpressionError."""
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise ExpressionError(f"unexpected {text[position:].strip()[:1]!r}")
        yield ExpressionToken(match.lastgroup, match[match.lastgroup])
        position = match.end()


MAX_NESTING = 40
#: The operators between two operands, lowest precedence first; `not` stands between `and` and the comparisons.
OPERATORS = (
    ("or",), ("and",), ("==", "!=", "<", ">", "<=", ">=", "in", "not in", "is"), ("~",), ("+", "-"),
    ("*", "/", "//", "%", "**"),
)  # fmt: skip
COMPARISON = 2


def translate(text: str) -> str:
    """The expression in Jinja2. Raises ExpressionError."""
    parser = _Parser(list(tokens(text)))
    result = parser.expression()
    parser.end()
    return result.text


@dataclass(frozen=True)
class _Translation:
    """A part of an expression in Jinja2."""

    text: str
    #: False when it needs brackets as an operand.
    simple: bool = True
    #: True when it is certainly a text, so that `+` joins.
    is_text: bool = False

    @property
    def operand(self) -> str:
        return self.text if self.simple else f"({self.text})"


class _Parser:
    def __init__(self, tokens: list[ExpressionToken]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    # --- tokens -------------------------------------------------------------------------------------------------

    def _peek(self, ahead: int = 0) -> str:
        index = self._at + ahead
        if index >= len(self._tokens):
            return ""
        token = self._tokens[index]
        return token.text if token.kind != "string" else "'"

    def _next(self) -> ExpressionToken:
        if self._at >= len(self._tokens):
            raise ExpressionError("it ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, *texts: str) -> str | None:
        """Take the next token in Jinja2's spelling, if it is one of these."""
        word = SIGNS.get(self._peek()) or WORDS.get(self._peek()) or self._peek()
        if word not in texts:
            return None
        self._at += 1
        return word

    def _expect(self, text: str) -> None:
        if self._next().text != text:
            raise ExpressionError(f"expected {text!r}")

    def end(self) -> None:
        """Refuse remaining tokens."""
        if self._at < len(self._tokens):
            raise ExpressionError(f"unexpected {self._tokens[self._at].text!r}")

    # --- operators, lowest precedence first ----------------------------------------------------------------------

    def expression(self) -> _Translation:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise ExpressionError("it is nested too deeply")
        translation = self._elvis()
        if self._take("?"):
            yes = self.expression()
            self._expect(":")
            no = self.expression()
            translation = _Translation(f"{yes.operand} if {translation.operand} else {no.operand}", False)
        elif self._take("if"):
            condition = self._elvis()
            other = f" else {self.expression().operand}" if self._take("else") else ""
            translation = _Translation(f"{translation.operand} if {condition.operand}{other}", False)
        self._depth -= 1
        return translation

    def _elvis(self) -> _Translation:
        choices = [self._operation()]
        while self._take("?:"):
            choices.append(self._operation())
        translation = choices.pop()
        for choice in reversed(choices):
            translation = _Translation(f"{choice.operand}|if_blank({translation.text})", False)
        return translation

    def _operation(self, level: int = 0) -> _Translation:
        """Operands with operators of this precedence between them."""
        if level == len(OPERATORS):
            return self._unary()
        negations = 0
        while level == COMPARISON and self._take("!", "not"):
            negations += 1
        translation = self._operation(level + 1)
        while operator := self._take_operator(level):
            if operator == "is":
                negated = "not " if self._take("not") else ""
                translation = _Translation(f"{translation.operand} is {negated}{self._postfix().text}", False)
                continue
            other = self._operation(level + 1)
            joins = operator == "+" and (translation.is_text or other.is_text)
            text = f"{translation.operand} {'~' if joins else operator} {other.operand}"
            translation = _Translation(text, False, joins)
        return _Translation(f"not {translation.operand}", False) if negations % 2 else translation

    def _take_operator(self, level: int) -> str | None:
        if level == COMPARISON and self._peek() == "not" and self._peek(1) == "in":
            self._at += 2
            return "not in"
        return self._take(*OPERATORS[level])

    def _unary(self) -> _Translation:
        minus = ""
        while self._take("-"):
            minus += "-"
        translation = self._postfix()
        return _Translation(f"{minus}{translation.operand}", False) if minus else translation

    # --- operands -----------------------------------------------------------------------------------------------

    def _postfix(self) -> _Translation:
        translation = self._primary()
        while True:
            if self._take(".", "?."):
                translation = self._member(translation)
            elif self._take("["):
                translation = _Translation(f"{translation.operand}[{self._subscript()}]")
            elif self._peek() == "(" and translation.simple:
                self._at += 1
                translation = _Translation(f"{translation.text}({', '.join(self._arguments(')'))})")
            elif self._take("|"):
                name = self._next().text
                given = f"({', '.join(self._arguments(')'))})" if self._take("(") else ""
                translation = _Translation(f"{translation.operand}|{name}{given}")
            else:
                return translation

    def _member(self, translation: _Translation) -> _Translation:
        token = self._next()
        if token.kind == "number":
            return _Translation(f"{translation.operand}[{token.text}]")
        if token.kind != "name":
            raise ExpressionError(f"unexpected {token.text!r} after a dot")
        if self._peek() == "(" and token.text in METHODS:
            self._at += 1
            return _method(token.text, translation.operand, self._arguments(")"))
        return _Translation(f"{translation.operand}.{token.text}")

    def _subscript(self) -> str:
        parts = [""]
        while self._peek() != "]":
            if self._take(":"):
                parts.append("")
            else:
                parts[-1] = self.expression().text
        self._expect("]")
        return ":".join(parts)

    def _arguments(self, closing: str) -> list[str]:
        arguments: list[str] = []
        while self._peek() != closing:
            named = f"{self._next().text}=" if self._peek(1) == "=" and self._tokens[self._at].kind == "name" else ""
            if named:
                self._expect("=")
            arguments.append(named + self.expression().text)
            if self._peek() != closing:
                self._expect(",")
        self._expect(closing)
        return arguments

    def _primary(self) -> _Translation:
        token = self._next()
        if token.kind == "string":
            return _Translation(token.text, is_text=True)
        if token.kind == "number":
            return _Translation(token.text)
        if token.kind == "name":
            if token.text == "new" or (token.text == "T" and self._peek() == "("):
                raise ExpressionError(f"code cannot be reached from a template: {token.text}")
            return _Translation(WORDS.get(token.text, token.text))
        match token.text:
            case "(":
                inner = self.expression()
                self._expect(")")
                return _Translation(f"({inner.text})", is_text=inner.is_text)
            case "[":
                return _Translation(f"[{', '.join(self._arguments(']'))}]")
            case "{":
                return _Translation("{" + ", ".join(self._entries()) + "}")
            case "#":
                return self._helper()
            case "@":
                raise ExpressionError("code cannot be reached from a template: @")
        raise ExpressionError(f"unexpected {token.text!r}")

    def _helper(self) -> _Translation:
        helper, dot, method, bracket = (self._next().text for _ in range(4))
        if helper not in HELPERS or dot != "." or bracket != "(" or method not in METHODS:
            raise ExpressionError(f"there is no #{helper}.{method}")
        arguments = self._arguments(")")
        if not arguments:
            raise ExpressionError(f"#{helper}.{method} needs a value")
        return _method(method, f"({arguments[0]})", arguments[1:])

    def _entries(self) -> Iterator[str]:
        while self._peek() != "}":
            key = self.expression().text
            self._expect(":")
            yield f"{key}: {self.expression().text}"
            if self._peek() != "}":
                self._expect(",")
        self._expect("}")


def _method(name: str, receiver: str, arguments: list[str]) -> _Translation:
    count, say = METHODS[name]
    if len(arguments) != count:
        raise ExpressionError(f"{name}() takes {count} values, not {len(arguments)}")
    becomes_filter = say("", *arguments).startswith("|")
    return _Translation(say(receiver, *arguments), not becomes_filter)
