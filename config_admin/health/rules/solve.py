"""Moments in which some rules hold and others do not: put together from their claims, then asked of the engine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, NamedTuple

from config_admin.health.rules import forms, phases, speech
from config_admin.health.rules.branching import branches
from config_admin.health.rules.claims import NOTHING, Branch, FactClaim, Place, TextClaim
from config_admin.health.rules.document import Conflict, document, says
from config_admin.health.rules.scene import Scene, Stage
from config_admin.health.rules.values import candidates
from config_admin.health.texts.wish import Text, text_for
from convengine.domain import rows
from convengine.domain.enums import MatchTarget, RulePhase
from convengine.domain.facts import SESSION_KEYS
from convengine.domain.session import Session
from convengine.rules.conditions import evaluate

Json = Any
#: Combinations of alternatives, values of one place, and combinations of values that are looked at.
MAX_COMBINED, MAX_VALUES, MAX_ASSIGNED = 48, 6, 40
_TEXTS = ("userText", "resolvedUserInput")
_ACT: Place = ("inputParams", "dialogue_act")


@dataclass(frozen=True)
class Wanted:
    """A rule that is to hold, or not. `written`: what rules before it have written by then."""

    rule: rows.Rule
    holds: bool = True
    written: Mapping[Place, Json] = field(default_factory=dict)


class Found(NamedTuple):
    """A moment, and the session that rules see in it."""

    scene: Scene
    session: Session


def moments(
    stage: Stage, phase: RulePhase, where: Iterable[tuple[str, str]], wanted: Sequence[Wanted]
) -> Iterator[Found]:
    """Moments of a phase, at the places of `where`, that the engine finds all of `wanted` true of.

    A rule that others write for is not asked here: what they make of the moment is for a run of the phase to tell.
    """
    ways = [branches(each.rule, each.holds) for each in wanted]
    for intent, state in where:
        for combined in islice(product(*ways), MAX_COMBINED):
            for found in _of(stage, phase, intent, state, wanted, combined):
                if all(each.written or evaluate(each.rule, found.session).matched is each.holds for each in wanted):
                    yield found


def _of(
    stage: Stage, phase: RulePhase, intent: str, state: str, wanted: Sequence[Wanted], combined: Sequence[Branch]
) -> Iterator[Found]:
    puzzle = _Puzzle(phase, intent, state)
    if not all(
        puzzle.add(claim, each.written) for each, branch in zip(wanted, combined, strict=True) for claim in branch
    ):
        return
    for schema in forms.in_force(stage.snapshot, phase, intent, state, puzzle.asks_form):
        for assigned in puzzle.assignments(stage, schema or forms.judging(stage.snapshot, intent, state)):
            yield from _played(stage, puzzle, schema, assigned)


def _played(
    stage: Stage, puzzle: "_Puzzle", schema: rows.OutputSchema | None, assigned: Mapping[Place, Json]
) -> Iterator[Found]:
    shapes = forms.shapes(stage.snapshot, schema, assigned) if puzzle.asks_form else iter([assigned])
    if puzzle.asks_container:
        shapes = (shape for one in shapes for shape in (one, {("containerData", "name"): "text", **one}))
    for values in shapes:
        try:
            made = document(values, tuple(puzzle.bases))
        except Conflict:
            continue
        context, params = made.get("context") or {}, made.get("inputParams") or {}
        for said, restated in puzzle.said(stage, params.get("dialogue_act")):
            scene = Scene(
                puzzle.phase,
                puzzle.intent,
                puzzle.state,
                said.text,
                context,
                params,
                {name: made[name] for name in phases.FREE_FACTS if name in made} | restated,
                schema,
                said.joined,
            )
            if (session := stage.session(scene)) is not None:
                yield Found(scene, session)


class _Puzzle:
    """The claims on one moment, by what they speak of."""

    def __init__(self, phase: RulePhase, intent: str, state: str) -> None:
        self.phase, self.intent, self.state = phase, intent, state
        self.wished: speech.Wished = ([], [])
        #: What is wished of the message as a model restates it; without a model that is the message.
        self.restated: speech.Wished = ([], [])
        self.bases: dict[Place, None] = {}
        #: True when something is claimed that follows from the form in force.
        self.asks_form = False
        #: True when something is claimed of container data being there.
        self.asks_container = False
        self._acts: list[TextClaim] = []
        self._claims: dict[Place, list[FactClaim]] = {}
        self._joint: list[FactClaim] = []
        self._fixed = _fixed(phase, intent, state)

    def add(self, claim: TextClaim | FactClaim, written: Mapping[Place, Json]) -> bool:
        """Take a claim in; false when it cannot be right at this place."""
        if isinstance(claim, TextClaim):
            return self._add_text(claim, written)
        known = {**self._fixed, **written}
        free = [place for place in claim.places if not _known(place, known)]
        if not free and claim.places:
            return says(claim, _about(claim, known))
        if claim.base_place and claim.base_place not in claim.places:
            self.bases[claim.base_place] = None
        if not free:
            # It speaks of nothing but constants: the engine will say.
            return True
        self.asks_container = self.asks_container or ("hasContainerData",) in free
        if any(place[:1] in _FORM_FACTS or not place for place in free):
            self.asks_form = self.asks_form or any(place[:1] in _FORM_FACTS for place in free)
            return True
        if all(place[0] in _TEXTS for place in free):
            speech.add(self.wished, claim)
            return True
        places = [place for place in free if _is_free(place)]
        for place in places:
            self._claims.setdefault(place, [])
        if len(places) == len(free) == len(claim.places) == 1:
            self._claims[places[0]].append(claim)
        elif places:
            self._joint.append(claim)
        return True

    def _add_text(self, claim: TextClaim, written: Mapping[Place, Json]) -> bool:
        if claim.target == MatchTarget.DIALOGUE_ACT:
            if _ACT in written:
                return claim.wish.holds(str(written[_ACT])) is claim.holds
            self._acts.append(claim)
            self._claims.setdefault(_ACT, [])
            return True
        if claim.target == MatchTarget.RESOLVED_INPUT and isinstance(query := written.get(("standaloneQuery",)), str):
            return claim.wish.holds(query) is claim.holds
        wished = self.restated if claim.target == MatchTarget.RESOLVED_INPUT else self.wished
        wished[not claim.holds].append(claim.wish)
        return True

    def said(self, stage: Stage, act: str | None) -> Iterator[tuple[Text, dict[str, Json]]]:
        """Messages, with the restated form as a fact where it is another text."""
        together = ([*self.wished[0], *self.restated[0]], [*self.wished[1], *self.restated[1]])
        yield from ((text, {}) for text in speech.texts(stage, self.phase, self.intent, together, act))
        if any(self.restated) and stage.world.model_configured and (query := text_for(*self.restated)) is not None:
            for text in speech.texts(stage, self.phase, self.intent, self.wished, act):
                yield text, {"standaloneQuery": query.text}

    def assignments(self, stage: Stage, schema: rows.OutputSchema | None) -> Iterator[Mapping[Place, Json]]:
        """Values for every place that is spoken of."""
        places = sorted(self._claims, key=lambda place: (len(place), str(place)))
        values = [list(islice(self._values(place, stage, schema), MAX_VALUES)) for place in places]
        for chosen in islice(product(*values), MAX_ASSIGNED):
            assigned = dict(zip(places, chosen, strict=True))
            known = self._fixed | assigned
            if all(says(claim, _about(claim, known)) for claim in self._joint):
                yield assigned

    def _values(self, place: Place, stage: Stage, schema: rows.OutputSchema | None) -> Iterator[Json]:
        claims, joint = self._claims[place], [claim for claim in self._joint if place in claim.places]
        beside = [claim for one in joint for other in one.places for claim in self._claims.get(other, ())]
        # What is compared with a field is likely to be of its kind.
        near = (place, *(other for one in joint for other in one.places))
        fields = (forms.field(stage.snapshot, schema, one) for one in near)
        field = next((one for one in fields if one is not None), None)
        known: Sequence[Json] = (
            phases.VALUES.get(str(place[1]), ()) if place[0] == "inputParams" and len(place) == 2 else ()
        )
        for value in (*known, *candidates(place, [*claims, *joint, *beside], field.declared if field else None)):
            if self._may_stand(place, value, stage, schema) and all(says(claim, {place: value}) for claim in claims):
                yield value

    def _may_stand(self, place: Place, value: Json, stage: Stage, schema: rows.OutputSchema | None) -> bool:
        if place == _ACT:
            return isinstance(value, str) and all(claim.wish.holds(value) is claim.holds for claim in self._acts)
        if value is NOTHING:
            return True
        if place[0] == "inputParams" and len(place) == 2:
            return phases.may_stand(str(place[1]), value, self.phase, stage.written)
        if place[0] in phases.FREE_FACTS:
            return phases.fact_may_be(str(place[0]), value if len(place) == 1 else {}, self.phase)
        return forms.may_stand(stage.snapshot, schema, place, value)


#: What follows from the form in force and the values in it.
_FORM_FACTS = frozenset(
    {("schemaComplete",), ("hasAnySchemaValue",), ("missingRequiredFields",), ("missingFieldOptions",)}
)


def _fixed(phase: RulePhase, intent: str, state: str) -> dict[Place, Json]:
    """What stands where it stands, whatever is chosen."""
    told = phases.params_of(phase)
    return {
        ("intent",): intent,
        ("state",): state,
        ("postIntentRule",): told["rule_agent_post_intent"],
        ("ruleExecutionSource",): told["rule_execution_source"],
        ("ruleExecutionOrigin",): told["rule_execution_origin"],
        **{("inputParams", key): value for key, value in phases.settled(phase).items()},
    }


def _known(place: Place, known: Mapping[Place, Json]) -> bool:
    return any(place[: len(other)] == other for other in known)


def _about(claim: FactClaim, known: Mapping[Place, Json]) -> dict[Place, Json]:
    """Of what is known, that which a claim speaks of, or which stands around it or in it."""
    return {
        place: value
        for place, value in known.items()
        if any(place[: len(one)] == one[: len(place)] for one in claim.places)
    }


def _is_free(place: Place) -> bool:
    """True for a place that a value can be chosen for."""
    if place[0] in ("context", "inputParams"):
        return len(place) > 1
    return place[0] in phases.FREE_FACTS and place[0] in SESSION_KEYS
