"""Test many text patterns at once, in a time that does not grow with their number."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

import re2

from convengine.engine.cached_property import cached_property
from convengine.engine.rules.patterns import PatternError, build_options, compile_pattern, prepare_subject
from convengine.engine.text.compare import blank, norm
from convengine.engine.turn.fault import Fault

Key = Hashable
#: (key, type, pattern) of one row; the types are those below, in any case.
Triple = tuple[Key, str | None, str | None]

REGEX = "REGEX"
CONTAINS = "CONTAINS"
STARTS_WITH = "STARTS_WITH"
EXACT = "EXACT"
#: A rule's EXACT: trimmed texts are equal ignoring case; `ANY` matches every text.
RULE_EXACT = "RULE_EXACT"
ANY = "ANY"
_ANY = ANY.casefold()

#: Memory of one set of patterns: the program and its cached states. The second attempt is for large sets.
_MEMORY = (32 * 1024 * 1024, 256 * 1024 * 1024)


class _Finder(Protocol):
    def hits(self, text: bytes) -> Iterator[Key]:
        """The keys of the patterns that match the text."""


class _SequentialSearch:
    """The slow fallback for a set that is too large."""

    def __init__(self, keys: Sequence[Key], sources: Sequence[str], ignore_case: bool) -> None:
        chosen = build_options(ignore_case=ignore_case)
        self._compiled = [(key, re2.compile(source, chosen)) for key, source in zip(keys, sources, strict=True)]

    def hits(self, text: bytes) -> Iterator[Key]:
        return (key for key, compiled in self._compiled if compiled.search(text))


class _Automaton:
    """One automaton for all patterns. Raises re2.error if it does not fit into memory."""

    def __init__(self, keys: Sequence[Key], sources: Sequence[str], ignore_case: bool, memory: int) -> None:
        self._keys = keys
        self._sources = sources
        self._ignore_case = ignore_case
        self._set = re2.Set.SearchSet(build_options(ignore_case=ignore_case, max_memory=memory))
        # RE2 returns nothing when a match runs out of memory. The empty pattern matches every text, so a result without
        # it means an error.
        self._set.Add("")
        for source in sources:
            self._set.Add(source)
        self._set.Compile()

    @cached_property
    def _sequential(self) -> _SequentialSearch:
        return _SequentialSearch(self._keys, self._sources, self._ignore_case)

    def hits(self, text: bytes) -> Iterator[Key]:
        indices = self._set.Match(text)
        if not indices:
            return self._sequential.hits(text)
        return (self._keys[index - 1] for index in indices if index)


class _EmptySearch:
    def hits(self, text: bytes) -> Iterator[Key]:
        return iter(())


def _build_finder(sources: Mapping[Key, str], *, ignore_case: bool) -> _Finder:
    """One automaton for all patterns, or the slow search if they do not fit into memory."""
    if not sources:
        return _EmptySearch()
    keys, texts = list(sources), list(sources.values())
    for memory in _MEMORY:
        try:
            return _Automaton(keys, texts, ignore_case, memory)
        except re2.error:
            continue
    return _SequentialSearch(keys, texts, ignore_case)


class TextBank:
    """The text patterns of many rows.

    `invalid` maps keys to the reason why a row never matches: an unusable pattern or an unknown type. A row with a
    blank pattern never matches either, but is not reported. With `normalised` a REGEX is also tested on the normal form
    of the text (for policies: zero-width and full-width letters must not help). With `blank_texts` a blank text is
    tested too (for rules); a null text never matches.
    """

    def __init__(self, triples: Iterable[Triple], *, normalised: bool = False, blank_texts: bool = False) -> None:
        self.invalid: dict[Key, Fault] = {}
        self._normalised = normalised
        self._blank_texts = blank_texts
        self._regexes: dict[Key, str] = {}
        self._literals: dict[Key, str] = {}
        self._whole: dict[str, list[Key]] = {}
        self._whole_of_rules: dict[str, list[Key]] = {}
        self._always: list[Key] = []
        for key, kind, pattern in triples:
            self._add(key, (kind or "").strip().upper(), pattern or "")
        self._regex_finder = _build_finder(self._regexes, ignore_case=True)
        self._literal_finder = _build_finder(self._literals, ignore_case=False)

    def _add(self, key: Key, kind: str, pattern: str) -> None:
        """Add a row by its type, or the reason why it never matches to `invalid`. A blank pattern is left out."""
        if kind not in (REGEX, CONTAINS, STARTS_WITH, EXACT, RULE_EXACT):
            known = ", ".join((REGEX, CONTAINS, STARTS_WITH, EXACT))
            self.invalid[key] = Fault(f"unknown type {kind or '(none)'}", "rule_type", kind, f"Choose one of: {known}.")
        elif blank(pattern):
            return
        elif kind == REGEX:
            try:
                self._regexes[key] = compile_pattern(pattern).source
            except PatternError as error:
                self.invalid[key] = error.fault("pattern", pattern)
        elif kind == RULE_EXACT:
            if is_always(pattern):
                self._always.append(key)
            self._whole_of_rules.setdefault(fold_case(pattern), []).append(key)
        elif wanted := norm(pattern):
            if kind == EXACT:
                self._whole.setdefault(wanted, []).append(key)
            else:
                self._literals[key] = (r"\A" if kind == STARTS_WITH else "") + re2.escape(wanted)

    def hits(self, text: str | None) -> frozenset[Key]:
        """The keys of all rows that match the text."""
        if text is None or (blank(text) and not self._blank_texts):
            return frozenset()
        keys: set[Key] = set(self._always)
        keys.update(self._regex_finder.hits(prepare_subject(text)))
        keys.update(self._whole_of_rules.get(fold_case(text), ()))
        if self._literals or self._whole or self._normalised:
            plain = norm(text)
            keys.update(self._whole.get(plain, ()))
            keys.update(self._literal_finder.hits(plain.encode("utf-8", "replace")))
            if self._normalised and plain != text:
                keys.update(self._regex_finder.hits(prepare_subject(plain)))
        return frozenset(keys)


def fold_case(text: str) -> str:
    """A text normalised for EXACT: trimmed, ignoring case."""
    return text.strip().casefold()


def is_exactly(pattern: str, text: str) -> bool:
    """True for a text that a rule's EXACT pattern is: trimmed, ignoring case.

    `ANY` matches every text, a blank pattern none.
    """
    wanted = fold_case(pattern)
    return wanted == _ANY or (wanted != "" and wanted == fold_case(text))


def is_always(pattern: str) -> bool:
    """True for the pattern of EXACT that matches every text."""
    return fold_case(pattern) == _ANY


@lru_cache(maxsize=512)
def get_bank(triples: tuple[Triple, ...], *, blank_texts: bool = False) -> TextBank:
    """The cached bank of these rows, so that other edits do not rebuild it."""
    return TextBank(triples, blank_texts=blank_texts)


def matches_single(kind: str, pattern: str | None, text: str | None) -> bool:
    """True if one row matches a text, exactly as a bank without options says; an unusable one never does.

    Without a bank, because building one takes a thousand times as long as testing.
    """
    if text is None or pattern is None or blank(text) or blank(pattern):
        return False
    plain, wanted = norm(text), norm(pattern)
    match kind.strip().upper():
        case "REGEX":
            try:
                return compile_pattern(pattern).occurs_in(text)
            except PatternError:
                return False
        case "RULE_EXACT":
            return is_exactly(pattern, text)
        case "CONTAINS":
            return wanted != "" and wanted in plain
        case "STARTS_WITH":
            return wanted != "" and plain.startswith(wanted)
        case "EXACT":
            return wanted != "" and wanted == plain
        case _:
            return False
