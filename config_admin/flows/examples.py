"""A pattern from examples of its values, and in words: `HX-20931` and `AB-10077` give `[A-Z]{2}-[0-9]{5}`."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from convengine.engine.rules.patterns import compile_pattern
from convengine.engine.text.wording import join_alternatives

#: The classes of characters, narrow ones first, each with the singular and the plural of its characters.
_CLASSES = {
    "[0-9]": ("digit", "digits"),
    r"\d": ("digit", "digits"),
    "[A-Z]": ("capital letter", "capital letters"),
    "[a-z]": ("small letter", "small letters"),
    "[A-Za-z]": ("letter", "letters"),
    "[A-Z0-9]": ("capital letter or digit", "capital letters or digits"),
    "[A-Za-z0-9]": ("letter or digit", "letters or digits"),
    r"\p{L}": ("letter of any language", "letters of any language"),
    r"[\p{L}0-9]": ("letter of any language or digit", "letters of any language or digits"),
}
#: The classes by which examples are tried to be alike, narrow ones first.
_LEVELS = (
    ("[0-9]", "[A-Z]", "[a-z]", r"\p{L}"),
    ("[0-9]", "[A-Za-z]", r"\p{L}"),
    ("[A-Z0-9]", "[A-Za-z0-9]", r"[\p{L}0-9]"),
    ("[A-Za-z0-9]", r"[\p{L}0-9]"),
)
_PART = re.compile(
    rf"(?P<group>{'|'.join(map(re.escape, sorted(_CLASSES, key=len, reverse=True)))})"
    r"(?:\{(?P<least>\d+)(?:,(?P<most>\d+))?\})?|\\?(?P<literal>[^\w\\]|_|(?<=\\)[^\w])"
)
#: What means something in a pattern.
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")


class _CharacterRun(NamedTuple):
    text: str
    is_class: bool
    least: int = 1
    most: int = 1

    def write(self) -> str:
        if not self.is_class:
            return f"\\{self.text}" if _SPECIAL.match(self.text) else self.text
        if self.least == self.most:
            return self.text if self.least == 1 else f"{self.text}{{{self.least}}}"
        return f"{self.text}{{{self.least},{self.most}}}"


def derive_pattern(examples: Sequence[str]) -> str:
    """The narrowest pattern of classes of characters that all examples fit; blank without examples.

    Examples of different shapes are alternatives.
    """
    texts = [text for text in (each.strip() for each in examples) if text]
    for level in _LEVELS:
        shapes = [list(_split(text, level)) for text in texts]
        if shapes and len({tuple(run.text for run in shape) for shape in shapes}) == 1:
            joined = (
                runs[0]._replace(least=min(run.least for run in runs), most=max(run.most for run in runs))
                for runs in zip(*shapes, strict=True)
            )
            return "".join(run.write() for run in joined)
    return "|".join(dict.fromkeys(derive_pattern([text]) for text in texts))


def _split(text: str, level: Sequence[str]) -> Iterator[_CharacterRun]:
    classes = {name: compile_pattern(name, ignore_case=False) for name in level}
    for name, members in groupby(text, lambda each: next((name for name in level if classes[name].fits(each)), "")):
        run = list(members)
        if name:
            yield _CharacterRun(name, True, len(run), len(run))
        else:
            yield from (_CharacterRun(character, False) for character in run)


def describe_pattern(pattern: str) -> str:
    """A pattern as `derive_pattern` writes it in words: 2 capital letters, “-”, 5 digits. Blank for another one."""
    body = pattern.removeprefix("^(?:").removesuffix(")$") if pattern.startswith("^(?:") else pattern
    body = body.removeprefix("^").removesuffix("$")
    described = ["".join(_describe_shape(shape)) for shape in re.split(r"(?<!\\)\|", body)]
    return join_alternatives(described) if all(described) else ""


def _describe_shape(shape: str) -> str:
    parts: list[str] = []
    position = 0
    while position < len(shape):
        match = _PART.match(shape, position)
        if match is None:
            return ""
        position = match.end()
        if match["group"] is None:
            parts.append("a blank" if match["literal"] == " " else f"“{match['literal']}”")
            continue
        singular, plural = _CLASSES[match["group"]]
        least, most = int(match["least"] or 1), int(match["most"] or match["least"] or 1)
        number = f"{least}" if least == most else f"{least} to {most}"
        parts.append(f"{number} {singular if number == '1' else plural}")
    return ", ".join(parts)
