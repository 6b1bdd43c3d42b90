"""Find turns in which some rules hold and others do not: built from their claims, then tested by the engine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, NamedTuple

from config_admin.health.rules import forms, phases, speech
from config_admin.health.rules.claims import NOTHING, Branch, FactClaim, FactPath, TextClaim, split_condition
from config_admin.health.rules.document import Conflict, build_document, holds_in
from config_admin.health.rules.simulator import HypotheticalTurn, TurnSimulator
from config_admin.health.rules.values import list_candidates
from config_admin.health.texts.predicate import Text, find_text
from convengine.engine.rules.conditions import evaluate_rule
from convengine.engine.turn import rows
from convengine.engine.turn.enums import MatchTarget, RulePhase
from convengine.engine.turn.facts import SESSION_KEYS
from convengine.engine.turn.session import Session

Json = Any
#: Limits: combinations of alternatives, values per path, and combinations of values.
MAX_COMBINED, MAX_VALUES, MAX_ASSIGNED = 48, 6, 40
_TEXTS = ("userText", "resolvedUserInput")
_ACT: FactPath = ("inputParams", "dialogue_act")


@dataclass(frozen=True)
class Wanted:
    """A rule that should hold, or not. `written`: what earlier rules have set by then."""

    rule: rows.Rule
    holds: bool = True
    written: Mapping[FactPath, Json] = field(default_factory=dict)


class SampleTurn(NamedTuple):
    """A turn, and the session that rules see."""

    turn: HypotheticalTurn
    session: Session


def sample_turns(
    simulator: TurnSimulator, phase: RulePhase, where: Iterable[tuple[str, str]], wanted: Sequence[Wanted]
) -> Iterator[SampleTurn]:
    """Turns of a phase, in the scopes of `where`, for which the engine confirms all of `wanted`.

    A rule that depends on others' changes is not tested here; the simulation of the phase decides.
    """
    alternatives = [split_condition(each.rule, each.holds) for each in wanted]
    for intent, state in where:
        for combined in islice(product(*alternatives), MAX_COMBINED):
            for sample in _sample_combination(simulator, phase, intent, state, wanted, combined):
                if all(
                    each.written or evaluate_rule(each.rule, sample.session).matched is each.holds for each in wanted
                ):
                    yield sample


def _sample_combination(
    simulator: TurnSimulator,
    phase: RulePhase,
    intent: str,
    state: str,
    wanted: Sequence[Wanted],
    combined: Sequence[Branch],
) -> Iterator[SampleTurn]:
    puzzle = _Puzzle(phase, intent, state)
    if not all(
        puzzle.add(claim, each.written) for each, branch in zip(wanted, combined, strict=True) for claim in branch
    ):
        return
    for schema in forms.list_forms(simulator.snapshot, phase, intent, state, puzzle.asks_form):
        for assigned in puzzle.assignments(
            simulator, schema or forms.find_usable_form(simulator.snapshot, intent, state)
        ):
            yield from _sample_assignment(simulator, puzzle, schema, assigned)


def _sample_assignment(
    simulator: TurnSimulator, puzzle: "_Puzzle", schema: rows.OutputSchema | None, assigned: Mapping[FactPath, Json]
) -> Iterator[SampleTurn]:
    shapes = forms.complete_assignments(simulator.snapshot, schema, assigned) if puzzle.asks_form else iter([assigned])
    if puzzle.asks_container:
        shapes = (shape for base in shapes for shape in (base, {("containerData", "name"): "text", **base}))
    for values in shapes:
        try:
            document = build_document(values, tuple(puzzle.bases))
        except Conflict:
            continue
        context, params = document.get("context") or {}, document.get("inputParams") or {}
        for message, restated in puzzle.sample_messages(simulator, params.get("dialogue_act")):
            turn = HypotheticalTurn(
                puzzle.phase,
                puzzle.intent,
                puzzle.state,
                message.text,
                context,
                params,
                {name: document[name] for name in phases.FREE_FACTS if name in document} | restated,
                schema,
                message.joined,
            )
            if (session := simulator.session(turn)) is not None:
                yield SampleTurn(turn, session)


class _Puzzle:
    """The claims about one turn, by subject."""

    def __init__(self, phase: RulePhase, intent: str, state: str) -> None:
        self.phase, self.intent, self.state = phase, intent, state
        self.text_predicates: speech.TextPredicates = ([], [])
        #: Claims about the message as a model rewrites it; without a model that is the message.
        self.query_predicates: speech.TextPredicates = ([], [])
        self.bases: dict[FactPath, None] = {}
        #: True when a claim depends on the current form.
        self.asks_form = False
        #: True when a claim needs container data.
        self.asks_container = False
        self._acts: list[TextClaim] = []
        self._claims: dict[FactPath, list[FactClaim]] = {}
        self._joint: list[FactClaim] = []
        self._fixed = _list_fixed_values(phase, intent, state)

    def add(self, claim: TextClaim | FactClaim, written: Mapping[FactPath, Json]) -> bool:
        """Add a claim; false when it cannot hold in this scope."""
        if isinstance(claim, TextClaim):
            return self._add_text(claim, written)
        known = {**self._fixed, **written}
        free = [path for path in claim.paths if not _is_known(path, known)]
        if not free and claim.paths:
            return holds_in(claim, _about(claim, known))
        if claim.base_path and claim.base_path not in claim.paths:
            self.bases[claim.base_path] = None
        if not free:
            # It has constants only: the engine will decide.
            return True
        self.asks_container = self.asks_container or ("hasContainerData",) in free
        if any(path[:1] in _FORM_FACTS or not path for path in free):
            self.asks_form = self.asks_form or any(path[:1] in _FORM_FACTS for path in free)
            return True
        if all(path[0] in _TEXTS for path in free):
            speech.add_text_predicate(self.text_predicates, claim)
            return True
        paths = [path for path in free if _is_free(path)]
        for path in paths:
            self._claims.setdefault(path, [])
        if len(paths) == len(free) == len(claim.paths) == 1:
            self._claims[paths[0]].append(claim)
        elif paths:
            self._joint.append(claim)
        return True

    def _add_text(self, claim: TextClaim, written: Mapping[FactPath, Json]) -> bool:
        if claim.target == MatchTarget.DIALOGUE_ACT:
            if _ACT in written:
                return claim.predicate.holds(str(written[_ACT])) is claim.holds
            self._acts.append(claim)
            self._claims.setdefault(_ACT, [])
            return True
        if claim.target == MatchTarget.RESOLVED_INPUT and isinstance(query := written.get(("standaloneQuery",)), str):
            return claim.predicate.holds(query) is claim.holds
        predicates = self.query_predicates if claim.target == MatchTarget.RESOLVED_INPUT else self.text_predicates
        predicates[not claim.holds].append(claim.predicate)
        return True

    def sample_messages(self, simulator: TurnSimulator, act: str | None) -> Iterator[tuple[Text, dict[str, Json]]]:
        """Messages, with the rewritten form as a fact if it differs."""
        together = (
            [*self.text_predicates[0], *self.query_predicates[0]],
            [*self.text_predicates[1], *self.query_predicates[1]],
        )
        yield from ((text, {}) for text in speech.sample_texts(simulator, self.phase, self.intent, together, act))
        if (
            any(self.query_predicates)
            and simulator.world.model_configured
            and (query := find_text(*self.query_predicates)) is not None
        ):
            for text in speech.sample_texts(simulator, self.phase, self.intent, self.text_predicates, act):
                yield text, {"standaloneQuery": query.text}

    def assignments(
        self, simulator: TurnSimulator, schema: rows.OutputSchema | None
    ) -> Iterator[Mapping[FactPath, Json]]:
        """Values for every path in the claims."""
        paths = sorted(self._claims, key=lambda path: (len(path), str(path)))
        values = [list(islice(self._values(path, simulator, schema), MAX_VALUES)) for path in paths]
        for chosen in islice(product(*values), MAX_ASSIGNED):
            assigned = dict(zip(paths, chosen, strict=True))
            known = self._fixed | assigned
            if all(holds_in(claim, _about(claim, known)) for claim in self._joint):
                yield assigned

    def _values(self, path: FactPath, simulator: TurnSimulator, schema: rows.OutputSchema | None) -> Iterator[Json]:
        claims, joint = self._claims[path], [claim for claim in self._joint if path in claim.paths]
        beside = [
            claim for joint_claim in joint for other in joint_claim.paths for claim in self._claims.get(other, ())
        ]
        # A value that is compared with a field probably has its kind.
        near = (path, *(other for joint_claim in joint for other in joint_claim.paths))
        fields = (forms.get_field(simulator.snapshot, schema, path) for path in near)
        field = next((field for field in fields if field is not None), None)
        known: Sequence[Json] = (
            phases.PARAM_VALUES.get(str(path[1]), ()) if path[0] == "inputParams" and len(path) == 2 else ()
        )
        for value in (*known, *list_candidates(path, [*claims, *joint, *beside], field.declared if field else None)):
            if self._may_stand(path, value, simulator, schema) and all(
                holds_in(claim, {path: value}) for claim in claims
            ):
                yield value

    def _may_stand(
        self, path: FactPath, value: Json, simulator: TurnSimulator, schema: rows.OutputSchema | None
    ) -> bool:
        if path == _ACT:
            return isinstance(value, str) and all(claim.predicate.holds(value) is claim.holds for claim in self._acts)
        if value is NOTHING:
            return True
        if path[0] == "inputParams" and len(path) == 2:
            return phases.is_possible_param(str(path[1]), value, self.phase, simulator.written)
        if path[0] in phases.FREE_FACTS:
            return phases.is_possible_fact(str(path[0]), value if len(path) == 1 else {}, self.phase)
        return forms.is_possible_value(simulator.snapshot, schema, path, value)


#: What follows from the current form and its values.
_FORM_FACTS = frozenset(
    {("schemaComplete",), ("hasAnySchemaValue",), ("missingRequiredFields",), ("missingFieldOptions",)}
)


def _list_fixed_values(phase: RulePhase, intent: str, state: str) -> dict[FactPath, Json]:
    """Values that are fixed whatever is chosen."""
    params = phases.get_phase_params(phase)
    return {
        ("intent",): intent,
        ("state",): state,
        ("postIntentRule",): params["rule_agent_post_intent"],
        ("ruleExecutionSource",): params["rule_execution_source"],
        ("ruleExecutionOrigin",): params["rule_execution_origin"],
        **{("inputParams", key): value for key, value in phases.list_fixed_params(phase).items()},
    }


def _is_known(path: FactPath, known: Mapping[FactPath, Json]) -> bool:
    return any(path[: len(other)] == other for other in known)


def _about(claim: FactClaim, known: Mapping[FactPath, Json]) -> dict[FactPath, Json]:
    """The known values that a claim is about, or that contain them or are contained."""
    return {
        path: value
        for path, value in known.items()
        if any(path[: len(claim_path)] == claim_path[: len(path)] for claim_path in claim.paths)
    }


def _is_free(path: FactPath) -> bool:
    """True for a path whose value can be chosen."""
    if path[0] in ("context", "inputParams"):
        return len(path) > 1
    return path[0] in phases.FREE_FACTS and path[0] in SESSION_KEYS
