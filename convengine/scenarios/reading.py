"""Reading a scenario file: YAML without surprises, and every key asked for by name."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from convengine.scenarios import matchers, paths
from convengine.scenarios.wording import ScenarioFileError, known

Json = Any


class _Loader(yaml.SafeLoader):
    """Dates stay texts, as in JSON; a key that stands twice, or is no text, is an error."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, Json]:
    loader.flatten_mapping(node)
    found: dict[str, Json] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = f"line {key_node.start_mark.line + 1}"
        if not isinstance(key, str):
            raise ScenarioFileError(line, f"the key {key!r} is no text; put it in quotes.")
        if key in found:
            raise ScenarioFileError(line, f"the key `{key}` stands twice.")
        found[key] = loader.construct_object(value_node, deep=True)
    return found


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


@dataclass(frozen=True)
class Node:
    """A value of a file, and where it stands."""

    value: Json
    place: str = ""

    def error(self, problem: str) -> ScenarioFileError:
        """What is wrong here."""
        return ScenarioFileError(self.place, problem)

    def fields(self, required: Collection[str] = (), optional: Collection[str] = ()) -> "Fields":
        """An object with these keys. Raises ScenarioFileError for any other key, and for one that is missing."""
        entries = self.entries()
        allowed = {*required, *optional}
        for key, node in entries.items():
            if key not in allowed:
                raise node.error(known(key, allowed, "key"))
        for key in required:
            if key not in entries:
                raise self.error(f"the key `{key}` is missing.")
        return Fields(entries)

    def entries(self) -> dict[str, "Node"]:
        """An object with keys of any name."""
        if not isinstance(self.value, dict):
            raise self.error("must be a map.")
        return {key: self._under(key, value) for key, value in self.value.items()}

    def items(self) -> Iterator["Node"]:
        """The members of a list."""
        if not isinstance(self.value, list):
            raise self.error("must be a list.")
        return (Node(value, f"{self.place}[{number}]") for number, value in enumerate(self.value))

    def _under(self, key: str, value: Json) -> "Node":
        name = key if key.replace("_", "").isalnum() else f"['{key}']"
        dot = "." if self.place and not name.startswith("[") else ""
        return Node(value, f"{self.place}{dot}{name}")

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self.error("must be a text.")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(item.text() for item in self.items())

    def one_or_more_texts(self) -> tuple[str, ...]:
        """A text or a list of texts."""
        return (self.value,) if isinstance(self.value, str) else self.texts()

    def flag(self) -> bool:
        """true or false."""
        if not isinstance(self.value, bool):
            raise self.error("must be true or false.")
        return self.value

    def whole(self, minimum: int = 0) -> int:
        """A whole number of at least `minimum`."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < minimum:
            raise self.error(f"must be a whole number of at least {minimum}.")
        return self.value

    def document(self) -> Mapping[str, Json]:
        """Any object."""
        self.entries()
        return dict(self.value)

    def matcher(self) -> Json:
        """A matcher."""
        try:
            matchers.check(self.value)
        except matchers.MatcherError as error:
            raise self.error(str(error)) from None
        return self.value

    def matchers(self) -> Mapping[str, Json]:
        """A map of names to matchers."""
        return {name: node.matcher() for name, node in self.entries().items()}

    def path_matchers(self) -> Mapping[str, Json]:
        """A map of JSON paths to matchers."""
        for path, node in self.entries().items():
            try:
                paths.parts(path)
            except paths.PathError as error:
                raise node.error(str(error)) from None
        return self.matchers()


@dataclass(frozen=True)
class Fields:
    """The checked keys of an object."""

    nodes: Mapping[str, Node]

    def __getitem__(self, key: str) -> Node:
        return self.nodes[key]

    def __contains__(self, key: str) -> bool:
        return key in self.nodes

    def get(self, key: str, default: Json = None) -> Node:
        """The node of a key; one with the default when the key is not there."""
        return self.nodes.get(key, Node(default, key))

    def exactly_one(self, one: str, other: str, place: Node) -> None:
        """Raises ScenarioFileError unless exactly one of two keys is there."""
        if (one in self) == (other in self):
            raise place.error(f"needs either `{one}` or `{other}`.")


def read(file: Path) -> Node:
    """The document of a YAML file. Raises ScenarioFileError."""
    try:
        return Node(yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader))  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}" if mark else ""
        raise ScenarioFileError(place, f"is no YAML: {getattr(error, 'problem', None) or error}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioFileError("", f"cannot be read: {error}.") from None
