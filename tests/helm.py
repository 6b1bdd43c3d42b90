"""Render the templates of a Helm chart as far as ours need it, on machines without Helm.

It knows values by their path, variables, the blocks `if`, `with`, `range` and `define`, and the functions of `_call`.
Whatever else a template has is an error.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_TAG = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}", re.DOTALL)
_WORD = re.compile(r'"[^"]*"|[^\s"]+')
Scope = Mapping[str, Any]


class NotRendered(ValueError):
    """A template asks for what is not there; the message says what."""


@dataclass
class Block:
    """Texts, expressions and blocks, in their order."""

    opening: str = ""
    parts: list["str | Tag | Block"] = field(default_factory=list)


@dataclass(frozen=True)
class Tag:
    """An expression, whose value becomes text."""

    expression: str


@dataclass(frozen=True)
class Chart:
    """A chart, with the release that it is rendered for."""

    folder: Path
    release: str = "convengine"

    def render(self, **given: Any) -> list[dict[str, Any]]:
        """The objects of all templates with these values over those of the chart. Raises NotRendered."""
        values = merge(yaml.safe_load((self.folder / "values.yaml").read_text()), given)
        file = yaml.safe_load((self.folder / "Chart.yaml").read_text())
        context = {
            "Values": values,
            "Chart": {name.title(): value for name, value in file.items()},
            "Release": {"Name": self.release, "Namespace": "default", "Service": "Helm"},
        }
        blocks = {path.name: parse(path.read_text()) for path in sorted((self.folder / "templates").iterdir())}
        named = {
            part.opening.split('"')[1]: part
            for block in blocks.values()
            for part in block.parts
            if isinstance(part, Block) and part.opening.startswith("define ")
        }
        texts = [
            Rendering(named, context).write(block, {"": context})
            for name, block in blocks.items()
            if name != "NOTES.txt"
        ]
        return [each for text in texts for each in yaml.safe_load_all(text) if each]


def merge(values: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Maps are merged; everything else is replaced."""
    return {
        name: merge(old, given[name])
        if isinstance(old := values.get(name), dict) and isinstance(given.get(name), dict)
        else given.get(name, old)
        for name in {**values, **given}
    }


def parse(text: str) -> Block:
    """The blocks of a template."""
    stack, position, trims = [Block()], 0, False
    for match in _TAG.finditer(text):
        before = text[position : match.start()]
        before = before.lstrip() if trims else before
        stack[-1].parts.append(before.rstrip() if match[1] else before)
        position, trims = match.end(), bool(match[3])
        expression = match[2]
        if expression.startswith("/*"):
            continue
        if expression == "end":
            block = stack.pop()
            stack[-1].parts.append(block)
        elif expression.split()[0] in ("if", "with", "range", "define"):
            stack.append(Block(expression))
        else:
            stack[-1].parts.append(Tag(expression))
    stack[-1].parts.append(text[position:].lstrip() if trims else text[position:])
    assert len(stack) == 1, "A block has no end."
    return stack[0]


@dataclass(frozen=True)
class Rendering:
    """The named templates, and what `$` is."""

    named: Mapping[str, Block]
    root: Scope

    def write(self, block: Block, scope: Scope) -> str:
        """The text of a block. `scope`: the dot below a blank name, and the variables."""
        written = (part if isinstance(part, str) else self._write_part(part, scope) for part in block.parts)
        return "".join(written)

    def _write_part(self, part: Tag | Block, scope: Scope) -> str:
        if isinstance(part, Tag):
            return to_text(self.evaluate(part.expression, scope))
        return "".join(self.write(part, inner) for inner in self._enter(part.opening, scope))

    def _enter(self, opening: str, scope: Scope) -> Iterator[Scope]:
        """The scopes in which a block is written: none, one or several."""
        keyword, _, rest = opening.partition(" ")
        if keyword == "define":
            return
        names, _, expression = rest.rpartition(":=")
        value = self.evaluate(expression, scope)
        if keyword == "range":
            entries = sorted(value.items()) if isinstance(value, dict) else enumerate(value)
            for entry in entries:
                variables = [name.strip() for name in names.split(",")]
                yield {**scope, **dict(zip(variables, entry[-len(variables) :], strict=True)), "": entry[1]}
        elif value:
            yield {**scope, "": value} if keyword == "with" else scope

    def evaluate(self, expression: str, scope: Scope) -> Any:
        """The value of an expression, whose parts are piped."""
        value: Any = None
        for number, stage in enumerate(expression.split(" | ")):
            name, *words = _WORD.findall(stage)
            arguments = [self._read(word, scope) for word in words] + ([value] if number else [])
            value = self._call(name, arguments) if words or number else self._read(name, scope)
        return value

    def _read(self, word: str, scope: Scope) -> Any:
        if word.startswith('"'):
            return word.strip('"')
        if word.isdigit():
            return int(word)
        start, *names = word.split(".")
        value = self.root if start == "$" else scope[start]
        for name in filter(None, names):
            value = value.get(name)
        return value

    def _call(self, name: str, arguments: Sequence[Any]) -> Any:
        *options, value = arguments
        if name == "include":
            return self.write(self.named[options[0]], {"": value})
        if name == "required":
            if value in (None, ""):
                raise NotRendered(options[0])
            return value
        if name == "quote":
            return f'"{to_text(value)}"'
        if name == "toYaml":
            return yaml.safe_dump(value).rstrip()
        assert name == "nindent", f"{name} is not known here."
        return "".join(f"\n{' ' * options[0]}{line}" for line in str(value).splitlines())


def to_text(value: Any) -> str:
    """As Helm writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
