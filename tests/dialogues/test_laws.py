"""Over all single messages of the trades: hardly a plain value is lost, and nothing held changes unasked."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from config_admin.flows.mapping import write_rows
from convengine.evaluation.read import FormReader, Result
from convengine.json_value import Json
from tests.dialogues.play_messages import MESSAGES

#: One value of a hundred at the most.
MOST_LOST = 0.01


def _read_all() -> Iterator[tuple[str, Result]]:
    for file in sorted(MESSAGES.glob("*.yaml")):
        trade = yaml.safe_load(file.read_text("utf-8"))
        readers = [(flow, FormReader(_write_schema(flow))) for flow in trade["flows"] if flow.get("fields")]
        for situation in trade["situations"]:
            held = situation.get("held") or {}
            fitting = (pair for pair in readers if held.keys() <= _list_names(pair[0]).keys())
            flow, reader = next(fitting, readers[0])
            missing = [name for name in _list_names(flow) if name not in held]
            place = {"asked": missing[0] if missing and held else "", "confirming": not missing, "opener": not held}
            said = {"held": held, "now": trade["clock"], "locale": trade["locale"], **place}
            for probe in situation["probes"]:
                yield probe["say"], reader.read({"say": probe["say"], **said})


def _write_schema(flow: Mapping[str, Any]) -> Json:
    return write_rows(dict(flow))["ce_output_schema"][0]["json_schema"]


def _list_names(flow: Mapping[str, Any]) -> dict[str, None]:
    return dict.fromkeys(field["name"] for field in flow["fields"])


@pytest.mark.slow
def test_values_said_plainly_are_answered_and_held_ones_keep() -> None:
    results = [*_read_all()]
    lost = [(text, result.lost_values) for text, result in results if result.lost_values]
    explicit = sum(result.explicit for _, result in results)

    assert [text for text, result in results if result.overwritten] == []
    assert explicit > 500
    assert len(lost) <= MOST_LOST * explicit, lost
