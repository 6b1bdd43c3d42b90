"""Duration of the health check: `python -m bench.health` on 5,000 rules of 500 intents, in full and for one row."""

import time
from collections.abc import Iterator

import django

from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot, Table

_WORDS = ("cancel", "change", "refund", "track", "renew", "upgrade", "close", "open", "move", "report")
_THINGS = ("order", "contract", "card", "account", "parcel", "meter", "bill", "policy", "ticket", "booking")


def world(rules: int = 5000, intents: int = 500) -> Snapshot:
    """A configuration in which every intent collects, confirms and ends, and a tenth of the rules apply everywhere."""
    content: list[rows.Row] = [
        *_intents(intents),
        *_rules(rules, intents),
        rows.Response(response_id=1, intent_code="ANY", state_code="ANY", exact_text="Sorry?"),
    ]
    tables: dict[str, list[rows.Row]] = {}
    for row in content:
        tables.setdefault(row.table, []).append(row)
    return Snapshot(1, {name: Table(name, members) for name, members in tables.items()})


def _intents(count: int) -> Iterator[rows.Row]:
    for index in range(count):
        code = f"TOPIC_{index}"
        yield rows.Intent(intent_code=code, description=f"The customer asks about subject {index}.")
        word, noun = _WORDS[index % 10], _THINGS[index // 10 % 10]
        for number, pattern in enumerate((rf"\b{word}\b.*\b{noun} {index}\b", f"subject {index} please")):
            yield rows.Classifier(
                classifier_id=2 * index + number + 1, intent_code=code, state_code="COLLECT", rule_type="REGEX",
                pattern=pattern,
            )  # fmt: skip
        yield rows.OutputSchema(schema_id=index + 1, intent_code=code, state_code="ANY", json_schema=_SCHEMA)
        for number, state in enumerate(("COLLECT", "CONFIRM", "DONE")):
            yield rows.Response(
                response_id=3 * index + number + 2, intent_code=code, state_code=state, exact_text=f"{state} {index}"
            )


_SCHEMA = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "pattern": r"^NO-\d{5}$"},
        "amount": {"type": "number", "minimum": 1, "maximum": 5000},
        "kind": {"enum": ["new", "old", "used"]},
    },
    "required": ["number", "kind"],
}
_AFFIRM, _NEGATE = (f"$[?(@.inputParams.dialogue_act == '{act}')]" for act in ("AFFIRM", "NEGATE"))
_COLLECTED, _ANSWER = "POST_SCHEMA_EXTRACTION", "PRE_RESPONSE_RESOLUTION"
#: (phase, state, type, pattern, action, value) of the rules of an intent; `{n}` is the number of the rule.
_OF_INTENT = (
    (_COLLECTED, "COLLECT", "JSON_PATH", "$[?(@.schemaComplete == true)]", "SET_STATE", "CONFIRM"),
    (_COLLECTED, "CONFIRM", "JSON_PATH", "$[?(@.schemaComplete == false)]", "SET_STATE", "COLLECT"),
    (_ANSWER, "CONFIRM", "JSON_PATH", _AFFIRM, "SET_STATE", "DONE"),
    (_ANSWER, "CONFIRM", "JSON_PATH", _NEGATE, "SET_STATE", "COLLECT"),
    ("POST_DIALOGUE_ACT", "ANY", "REGEX", r"\bagent{n}\b", "SET_INPUT_PARAM", "wants_agent:{n}"),
    (_ANSWER, "ANY", "JSON_PATH", "$[?(@.amount > {n} && @.kind == 'new')]", "SET_INPUT_PARAM", "tier:gold"),
    (_ANSWER, "ANY", "JSON_PATH", "$[?(@.amount <= {n} || @.kind == 'old')]", "SET_INPUT_PARAM", "tier:basic"),
    ("POST_CLASSIFIER_INTENT", "ANY", "EXACT", "ANY", "SET_STATE", "COLLECT"),
    (_ANSWER, "DONE", "REGEX", r"^(again|once more {n})$", "SET_STATE", "COLLECT"),
)


def _rules(count: int, intents: int) -> Iterator[rows.Rule]:
    for index in range(count):
        if index % 10 == 9:
            yield _rule(
                index,
                "ANY",
                "PRE_RESPONSE_RESOLUTION",
                "ANY",
                "REGEX",
                r"\bhot topic {n}\b",
                "SET_INPUT_PARAM",
                "topic:{n}",
            )
        else:
            yield _rule(index, f"TOPIC_{index // 10 % intents}", *_OF_INTENT[index % 10])


def _rule(
    index: int, intent: str, phase: str, state: str, kind: str, pattern: str, action: str, value: str
) -> rows.Rule:
    number = str(index)
    return rows.Rule(
        rule_id=index + 1, intent_code=intent, state_code=state, phase=phase, rule_type=kind, action=action,
        match_pattern=pattern.replace("{n}", number), action_value=value.replace("{n}", number),
    )  # fmt: skip


def main() -> None:
    """Measure, print."""
    django.setup()
    from config_admin.health.check import check_all, check_touched
    from config_admin.validation.world import World

    snapshot, installed = world(), World(model_configured=True)
    began = time.process_time()
    health = check_all(snapshot, installed)
    took = time.process_time() - began
    print(f"in full: {took:.2f} s of a core, {len(health.findings)} findings, left out {health.left_out}")
    for name, seconds in health.seconds.items():
        print(f"  {name}: {seconds:.2f} s")
    for row in (snapshot.rows(rows.Rule)[1], snapshot.rows(rows.Rule)[9], snapshot.rows(rows.Classifier)[3]):
        began = time.process_time()
        near = check_touched(snapshot, installed, [row])
        took = time.process_time() - began
        print(f"{row.table} {row.pk}: {1000 * took:.0f} ms of a core, {len(near.findings)} findings {near.left_out}")


if __name__ == "__main__":
    main()
