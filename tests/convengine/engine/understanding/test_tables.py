"""What holds for the tables of a language: a phrase means one thing, or two."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from convengine.engine.understanding.language import list_languages, read_table

#: Small words that do what the words beside them make of them, and whole answers with which a sentence may begin.
MANY_CLASSES = {
    "en": {
        "-", "any", "for", "here", "is", "it is", "it's", "on", "till", "to", "under",
        "until",
        "great", "no", "nothing", "ok", "okay", "perfect", "right", "sure", "yes",
    },
    "de": {
        "-", "auf", "bis", "den", "der", "für", "ist", "kein", "keine", "keiner", "mit", "passt", "soll", "sollte",
        "vom", "von", "wäre", "zu", "doch",
        "gern", "gerne", "gut", "ja", "keins", "klar", "ne", "nein", "nichts", "nix", "ok", "okay",
    },
    "es": {
        "-", "a", "al", "bueno", "de", "del", "el", "es", "hasta", "la", "nada", "ninguna", "ninguno", "no", "para",
        "perfecto", "prefiero", "sería", "son", "sí",
    },
    "fr": {
        "-", "au", "aucun", "aucune", "c'est", "d'accord", "de", "du", "dès", "exactement", "jusqu'au",
        "jusqu'en", "jusqu'à", "la", "le", "non", "ok", "okay", "oui", "parfait", "pour", "rien", "serait",
    },
    "it": {
        "-", "a", "al", "all'", "alle", "cancella", "cancelli", "certo", "da", "dal", "d'accordo", "direi", "fino a",
        "fino al", "fino alle", "grazie", "la", "lo", "metta", "nessuna", "niente", "no", "non ci sono", "ok", "okay",
        "ottimo", "per", "perche'", "perché", "perfetto", "posso", "potrei", "sarebbe", "sarebbe l'ideale",
        "si chiama", "si'", "sono", "sì", "va bene", "va benissimo", "volentieri", "vorrei", "vorremmo", "è il",
        "è la",
    },
    "pt": {
        "-", "a", "aham", "até", "bom", "claro", "como disse", "da", "das", "de", "disponível", "do", "isso", "nada",
        "nenhum", "nenhuma", "não precisa", "não temos", "não tenho", "não é", "outra", "outro", "para",
        "posso", "pra", "preciso", "prefiro", "queremos", "queria", "quero", "seria", "serve", "sim", "sou", "são",
        "tem que ser", "tudo bem", "uhum",
    },
    "nl": {
        "-", "als", "de", "doe maar", "is", "met", "op", "past", "t/m", "tot", "tot en met", "van", "voor", "wordt",
        "geen", "goed", "graag", "ja", "nee", "neen", "niets", "niks", "ok", "okee", "oké", "prima", "zeker",
    },
}  # fmt: skip
MOST_CLASSES = 2
#: Classes that say something else of a word than what it does in its clause: of the text behind it, of a field's name.
BESIDE = {
    "relation",
    "relation_field",
    "kind_name",
    "name_word",
    "short_article",
    "label_is",
    "name_joint",
    "capital_word",
    "first_of_two",
    "last_of_two",
}


def _list_phrases(file: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The name of each class and move, with each of its phrases."""
    for name, words in file.get("classes", {}).items():
        yield from ((name, word) for word in words)
    for row in file.get("values", ()):
        yield from ((row["class"], word) for _, *words in row["words"] for word in words)
    for row in file.get("move", ()):
        yield from ((row["means"] + (" anywhere" if row.get("anywhere") else ""), text) for text in row["text"])


@pytest.mark.parametrize("language", list_languages())
def test_a_phrase_stands_in_two_classes_at_the_most(language: str) -> None:
    classes: defaultdict[str, set[str]] = defaultdict(set)
    for name, phrase in _list_phrases(read_table(language, "words")):
        if name not in BESIDE:
            classes[phrase].add(name.removesuffix(" anywhere"))

    many = {phrase: sorted(names) for phrase, names in classes.items() if len(names) > MOST_CLASSES}

    assert many.keys() == MANY_CLASSES[language], many


@pytest.mark.parametrize("language", list_languages())
@pytest.mark.parametrize("name", ["words", "calendar", "numbers"])
def test_a_phrase_stands_once_in_a_class(language: str, name: str) -> None:
    phrases = list(_list_phrases(read_table(language, name)))

    assert sorted({entry for entry in phrases if phrases.count(entry) > 1}) == []
