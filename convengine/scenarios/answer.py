"""What is expected of the answer: its payload, or its error."""

import json
from collections.abc import Iterator
from typing import Any

from convengine.scenarios import matchers
from convengine.scenarios.happened import Happened
from convengine.scenarios.judging import Expectation, Miss, by_path, unless
from convengine.scenarios.matchers import holds
from convengine.scenarios.reading import Node
from convengine.scenarios.wording import known

Json = Any
PAYLOAD_TYPES = ("TEXT", "JSON", "ERROR")


def _read_response(node: Node) -> Json:
    given = node.fields((), ("type", "json", *matchers.OPERATORS))
    kind = given.get("type", PAYLOAD_TYPES[0]).text()
    if kind not in PAYLOAD_TYPES:
        raise given["type"].error(known(kind, PAYLOAD_TYPES, "payload type"))
    value = {word: operand.value for word, operand in given.nodes.items() if word in matchers.OPERATORS}
    return {
        **({"type": kind} if "type" in given else {}),
        **({"json": given["json"].path_matchers()} if "json" in given else {}),
        **({"value": Node(value, node.place).matcher()} if value else {}),
    }


def _response(wanted: Json, happened: Happened) -> Iterator[Miss]:
    kind, value = happened.payload.get("type"), happened.payload.get("value")
    yield from unless(wanted.get("type", kind) == kind, ".type", wanted.get("type"), kind)
    for word, operand in wanted.get("value", {}).items():
        yield from unless(holds({word: operand}, value), f".{word}", operand, value)
    yield from by_path(wanted.get("json", {}), _parsed(value), ".json")


def _parsed(value: Json) -> Json:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None


def _read_error(node: Node) -> Json:
    given = node.fields((), ("code", "recoverable"))
    return {key: inner.matcher() for key, inner in given.nodes.items()}


def _error(wanted: Json, happened: Happened) -> Iterator[Miss]:
    yield from unless(happened.payload.get("type") == "ERROR", ".payload.type", "ERROR", happened.payload.get("type"))
    for key, name in (("code", "errorCode"), ("recoverable", "recoverable")):
        got = happened.body.get(name)
        yield from unless(holds(wanted[key], got), f".{key}", wanted[key], got) if key in wanted else ()


RESPONSE = Expectation(_read_response, _response)
ERROR = Expectation(_read_error, _error)
