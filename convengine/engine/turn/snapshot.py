"""The configuration of one release as frozen values with indexes.

A turn pins one Snapshot and reads nothing else. Unchanged tables of two releases are the same `Table` object, so an
edit of one row costs the indexes of one table.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar, cast

from convengine.engine.cached_property import cached_property
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import read_phase
from convengine.engine.turn.rows import Intent, Row, Rule
from convengine.engine.turn.scope import (
    ANY,
    BUILT_IN_STATES,
    HAND_OVER,
    QUESTION_BESIDE_FLOW,
    UNKNOWN,
    list_buckets,
    scope_key,
)
from convengine.engine.turn.translations import translate_row

R = TypeVar("R", bound=rows.Row)
V = TypeVar("V")


class Memo:
    """Values computed once from something immutable. Two threads may compute the same value; either one is stored."""

    def __init__(self) -> None:
        self.values: dict[Hashable, Any] = {}

    def get(self, key: Hashable, compute: Callable[[], V]) -> V:
        """The value under `key`, computed at first use."""
        try:
            return self.values[key]  # type: ignore[no-any-return]
        except KeyError:
            value = self.values[key] = compute()
            return value


class Table:
    """All rows of one table in one release, in primary-key order."""

    def __init__(
        self,
        name: str,
        all_rows: Iterable[rows.Row] = (),
        unreadable: Mapping[Any, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.rows: tuple[rows.Row, ...] = tuple(all_rows)
        #: Values that do not fit their columns, by primary key and column. These rows are disabled.
        self.unreadable = unreadable
        self.memo = Memo()

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def by_pk(self) -> Mapping[Any, rows.Row]:
        return {row.pk: row for row in self.rows}

    @cached_property
    def by_text(self) -> Mapping[str, rows.Row]:
        """The rows by the text of their primary key, as records and addresses have it."""
        return {str(row.pk): row for row in self.rows}

    @cached_property
    def enabled(self) -> tuple[rows.Row, ...]:
        return tuple(row for row in self.rows if row.enabled)

    def translate(self, language: str) -> "Table":
        """This table with the texts of a language; the same one if no row has any."""
        translated = tuple(translate_row(row, language) for row in self.rows)
        is_same = all(row is before for row, before in zip(translated, self.rows, strict=True))
        return self if is_same else Table(self.name, translated, self.unreadable)


class Snapshot:
    """The whole configuration at one `config_version`."""

    def __init__(
        self, config_version: int, tables: Mapping[str, Table], defaults: Mapping[tuple[str, str], str] | None = None
    ) -> None:
        #: The release that every event of a turn names.
        self.config_version = config_version
        #: The hash of the release's content, which the seal of a turn covers; blank for a draft.
        self.content_hash = ""
        self.tables: Mapping[str, Table] = {
            name: tables.get(name) or Table(name) for name in (row_type.table for row_type in rows.ROW_TYPES)
        }
        #: Settings of the deployment by (TYPE, KEY) in upper case: below `ce_config` rows, above built-in defaults.
        self.defaults: Mapping[tuple[str, str], str] = defaults or {}
        #: Rows with a value that its column cannot hold; normally none, so that a turn need not search for them.
        self.unreadable: tuple[rows.Row, ...] = tuple(
            table.by_pk[pk] for table in self.tables.values() for pk in sorted(table.unreadable)
        )
        self.memo = Memo()
        #: The configuration with all of its intents: this one, unless a channel has only some of them.
        self.whole: Snapshot = self
        #: The configuration with its texts in the first language.
        self.untranslated: Snapshot = self

    def translate(self, language: str) -> "Snapshot":
        """This configuration with its texts in a language, where rows have them. Other tables are shared."""
        first = self.untranslated
        return first.memo.get(("texts in", language), lambda: first._translate(language))

    def _translate(self, language: str) -> "Snapshot":
        tables = {
            name: table.memo.get(("texts in", language), partial(table.translate, language))
            for name, table in self.tables.items()
        }
        if all(table is self.tables[name] for name, table in tables.items()):
            return self
        translated = Snapshot(self.config_version, tables, self.defaults)
        translated.content_hash, translated.whole, translated.untranslated = self.content_hash, self.whole, self
        return translated

    def limit_intents(self, intents: Collection[str]) -> "Snapshot":
        """This configuration with these flows and their questions only, and with the intents that hand over.

        Rows of the other intents take no part, as if these were disabled. All other tables are shared.
        """
        has = {*intents, *self.hand_over_intents}.union(*map(self.list_questions_beside, intents))
        table = self.table(Intent)
        rows_of_channel = (
            row if code(row.pk) in has else replace(row, enabled=False)  # ANY and UNKNOWN are active without a row.
            for row in self.rows(Intent)
        )
        limited = Snapshot(
            self.config_version,
            {**self.tables, Intent.table: Table(table.name, rows_of_channel, table.unreadable)},
            self.defaults,
        )
        limited.content_hash, limited.whole = self.content_hash, self
        return limited

    def table(self, row_type: type[R]) -> Table:
        return self.tables[row_type.table]

    def rows(self, row_type: type[R]) -> tuple[R, ...]:
        """All rows of a type, including disabled ones."""
        return self.tables[row_type.table].rows  # type: ignore[return-value]

    def enabled_rows(self, row_type: type[R]) -> tuple[R, ...]:
        return self.tables[row_type.table].enabled  # type: ignore[return-value]

    def row(self, row_type: type[R], pk: Any) -> R | None:
        """One row by primary key. Returns None when there is none."""
        return cast("R | None", self.table(row_type).by_pk.get(pk))

    def find_row(self, table: str, pk: str) -> Row | None:
        """One row by the names of a record: its table, and the text of its primary key.

        Returns None when there is none.
        """
        return self.tables[table].by_text.get(pk) if table in self.tables else None

    # --- intents ------------------------------------------------------------------------------------------------

    @cached_property
    def active_intents(self) -> frozenset[str]:
        """Codes whose rows take part: every enabled intent, ANY and UNKNOWN."""
        return self.table(rows.Intent).memo.get(
            "active",
            lambda: frozenset({ANY, UNKNOWN, *(code(i.intent_code) for i in self.enabled_rows(rows.Intent))}),
        )

    def is_active(self, intent: str | None) -> bool:
        """False for a concrete intent without an enabled row; rows of such an intent are inactive."""
        return code(intent) in self.active_intents

    def is_switched_off(self, intent: str | None) -> bool:
        """True for an intent that has a row, and the row is disabled: nothing leads to it."""
        row = self.row(Intent, code(intent))
        return row is not None and not row.enabled

    @property
    def allowed_intents(self) -> tuple[Intent, ...]:
        """The enabled intents but UNKNOWN, by priority, then code: those that a model may choose."""
        return self.table(rows.Intent).memo.get(
            "allowed",
            lambda: tuple(
                sorted(
                    (i for i in self.enabled_rows(rows.Intent) if code(i.intent_code) != UNKNOWN),
                    key=lambda i: (i.priority, i.intent_code),
                )
            ),
        )

    @cached_property
    def interrupting_classifiers(self) -> frozenset[int]:
        """The phrases that are tried even while a form is open, by id.

        They are those of intents that answer and return, and those that lead to the state HAND_OVER.
        """
        returning = self.returning_intents
        hand_overs = self.table(rows.Classifier).memo.get(
            "hand-overs",
            lambda: frozenset(
                row.classifier_id for row in self.enabled_rows(rows.Classifier) if code(row.state_code) == HAND_OVER
            ),
        )
        if not returning:
            return hand_overs
        return hand_overs | self.table(rows.Classifier).memo.get(
            ("of intents", returning),
            lambda: frozenset(
                row.classifier_id for row in self.enabled_rows(rows.Classifier) if code(row.intent_code) in returning
            ),
        )

    @cached_property
    def hand_over_intents(self) -> frozenset[str]:
        """The enabled intents whose phrases lead to the state HAND_OVER."""
        return self._all_hand_over_intents & self.active_intents

    @property
    def disabled_hand_over_intents(self) -> frozenset[str]:
        """The disabled intents whose phrases lead to the state HAND_OVER."""
        return self._all_hand_over_intents - self.active_intents

    @property
    def _all_hand_over_intents(self) -> frozenset[str]:
        """The intents, enabled or not, whose phrases lead to the state HAND_OVER."""
        intents: frozenset[str] = self.table(rows.Classifier).memo.get(
            "intents that hand over",
            lambda: frozenset(
                code(row.intent_code) for row in self.enabled_rows(rows.Classifier) if code(row.state_code) == HAND_OVER
            ),
        )
        return intents

    def list_questions_beside(self, intent: str | None) -> frozenset[str]:
        """The intents of the questions that a flow answers beside its form; those of BOOKING are BOOKING_Q1 and on."""
        by_flow: dict[str, frozenset[str]] = self.table(rows.Intent).memo.get(
            "questions beside flows", lambda: _group_questions(self.returning_intents)
        )
        return by_flow.get(code(intent), frozenset())

    @property
    def returning_intents(self) -> frozenset[str]:
        """Codes of the enabled intents that answer and return."""
        return self.table(rows.Intent).memo.get(
            "returning", lambda: frozenset(code(i.intent_code) for i in self.enabled_rows(rows.Intent) if i.returns)
        )

    # --- scoped rows --------------------------------------------------------------------------------------------

    def index(
        self, row_type: type[R], key: Callable[[R], Hashable], order: Callable[[R], Any]
    ) -> Mapping[Any, tuple[R, ...]]:
        """Enabled rows by `key`, each group in `order`; built once per table (the functions are the memo's key)."""

        def build() -> dict[Hashable, tuple[R, ...]]:
            groups: dict[Hashable, list[R]] = {}
            for row in self.enabled_rows(row_type):
                groups.setdefault(key(row), []).append(row)
            return {group: tuple(sorted(members, key=order)) for group, members in groups.items()}

        return self.table(row_type).memo.get((key, order), build)

    def in_scope(
        self, row_type: type[R], intent: str | None, state: str | None, *, order: Callable[[R], Any] | None = None
    ) -> tuple[R, ...]:
        """The active rows for (intent, state): most specific scope first, inside a scope in `order`.

        The default order is priority, then primary key.
        """
        by_scope = self.index(row_type, scope_key, order or _order_by_priority)
        matching: list[R] = []
        active = self.active_intents
        for bucket in dict.fromkeys(list_buckets(intent, state)):
            if bucket[0] in active:
                matching.extend(by_scope.get(bucket, ()))
        return tuple(matching)

    def has_scope(self, row_type: type[R], intent: str | None, state: str | None) -> bool:
        """True when an enabled row has exactly this intent and state."""
        return (code(intent), code(state)) in self.index(row_type, scope_key, _order_by_priority)

    def rules(self, phase: str, intent: str | None, state: str | None) -> tuple[Rule, ...]:
        """The rules of a phase for (intent, state), in the order of testing."""
        return tuple(rule for bucket in self.rule_buckets(phase, intent, state).values() for rule in bucket)

    def rule_buckets(
        self, phase: str, intent: str | None, state: str | None
    ) -> Mapping[tuple[str, str, str], tuple[Rule, ...]]:
        """The rules of a phase for (intent, state) by scope key, in the order of testing.

        They are not copied, so that values derived from a bucket can be cached.
        """
        by_scope = self.index(rows.Rule, _rule_key, _order_by_priority)
        active = self.active_intents
        return {
            key: by_scope[key]
            for bucket in list_buckets(intent, state)
            if bucket[0] in active and (key := (phase, *bucket)) in by_scope
        }

    # --- known states -------------------------------------------------------------------------------------------

    @cached_property
    def known_states(self) -> frozenset[str]:
        """Every concrete state that an enabled row names or leads to, and those that exist without a row."""
        names = {code(edge.from_state) for edge in self.enabled_rows(rows.StateEdge)}
        names |= {code(edge.to_state) for edge in self.enabled_rows(rows.StateEdge)}
        names |= {code(rule.action_value) for rule in self.enabled_rows(rows.Rule) if rule.action == "SET_STATE"}
        named = (rows.Rule, rows.Classifier, rows.Response, rows.PromptTemplate, rows.OutputSchema, rows.PendingAction)
        for row_type in named:
            names |= {code(getattr(row, "state_code", "")) for row in self.enabled_rows(row_type)}
        return frozenset(names | BUILT_IN_STATES) - {ANY, ""}


def _rule_key(rule: rows.Rule) -> tuple[str, str, str]:
    return read_phase(rule.phase) or "", code(rule.intent_code), code(rule.state_code)


def _order_by_priority(row: Any) -> tuple[int, Any]:
    return getattr(row, "priority", 0), row.pk


def _group_questions(intents: Iterable[str]) -> dict[str, frozenset[str]]:
    """By flow, the intents that are named as its questions."""
    grouped: dict[str, set[str]] = {}
    for intent in intents:
        if match := QUESTION_BESIDE_FLOW.fullmatch(intent):
            grouped.setdefault(match[1], set()).add(intent)
    return {flow: frozenset(questions) for flow, questions in grouped.items()}
