"""Texts without a translation, translations that nobody reads, and settings of languages that contradict each other."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from config_admin.health.diagnosis import Diagnosis, make_diagnosis
from config_admin.health.survey import Survey
from config_admin.validation.draft import Severity
from config_admin.validation.labels import name_language
from config_admin.validation.settings import find_setting
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.local_time import LANGUAGES, LOCALE, find_language_code
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.engine.turn.translations import find_translations, list_texts

SPOKEN_TYPES = tuple(row_type for row_type in rows.ROW_TYPES if issubclass(row_type, rows.SpokenRow))
#: How many rows a finding names.
_SHOWN = 3


def find_missing_translations(survey: Survey) -> Iterator[Diagnosis]:
    """One finding for each language in which texts are missing; only in a check of all rows."""
    for language in _list_languages(survey.snapshot)[1:] if survey.touched is None else ():
        memo_key = ("missing translations", language)
        counts = [
            count
            for table in _list_tables(survey.snapshot)
            for count in table.memo.get(memo_key, partial(_count_missing, table, language))
        ]
        if counts:
            total, name = sum(number for _, number in counts), name_language(language)
            yield _report(
                "TRANSLATIONS_MISSING",
                language,
                [row for row, _ in counts],
                f"{total} text{' has' if total == 1 else 's have'} no translation into {name}. The page Languages "
                "lists them.",
                f"Customers who speak {name} read the first language there.",
            )


def find_unlisted_languages(survey: Survey) -> Iterator[Diagnosis]:
    """One finding for each language with translations that no conversation has; only in a check of all rows."""
    translated: dict[str, list[rows.Row]] = {}
    for table in _list_tables(survey.snapshot) if survey.touched is None else ():
        for language, members in table.memo.get("rows by language", partial(_group_by_language, table)).items():
            translated.setdefault(language, []).extend(members)
    for language in sorted(translated.keys() - set(_list_languages(survey.snapshot))):
        count, name = len(translated[language]), name_language(language)
        yield _report(
            "LANGUAGE_UNLISTED",
            language,
            translated[language],
            f"{count} row{' has' if count == 1 else 's have'} translations into {name}, and the setting "
            f"“{LANGUAGES.label}” does not list {language}.",
            "No customer reads these translations.",
        )


def check_locale(survey: Survey) -> Iterator[Diagnosis]:
    """A finding if users may not speak the language of the setting LOCALE."""
    languages, locale = _list_languages(survey.snapshot), live_settings.read(survey.snapshot, LOCALE).value
    if not languages or not locale or find_language_code(locale) in languages:
        return
    deciding = [row for row in survey.snapshot.enabled_rows(rows.Config) if find_setting(row) in (LANGUAGES, LOCALE)]
    if survey.is_touched(*deciding):
        yield make_diagnosis(
            "LOCALE_UNLISTED",
            Severity.WARNING,
            None,
            f"The setting “{LOCALE.label}” is {locale}, and “{LANGUAGES.label}” does not list "
            f"{name_language(find_language_code(locale))}.",
            f"Conversations begin in {name_language(languages[0])}.",
            others=deciding,
            table=rows.Config.table,
        )


def _report(code: str, language: str, members: Sequence[rows.Row], message: str, consequence: str) -> Diagnosis:
    shown = members[:_SHOWN]
    return make_diagnosis(code, Severity.WARNING, shown[0], message, consequence, others=shown, translation=language)


def _list_languages(snapshot: Snapshot) -> Sequence[str]:
    return [find_language_code(locale) for locale in live_settings.read(snapshot, LANGUAGES).value]


def _list_tables(snapshot: Snapshot) -> Iterator[Table]:
    return (snapshot.table(row_type) for row_type in SPOKEN_TYPES)


def _count_missing(table: Table, language: str) -> Sequence[tuple[rows.Row, int]]:
    """The enabled rows that have untranslated texts, each with the number of these texts."""
    known = ((row, find_translations(getattr(row, "translations", None), language)) for row in table.enabled)
    counts = ((row, sum(at not in texts for at, _ in list_texts(table.name, vars(row)))) for row, texts in known)
    return [(row, count) for row, count in counts if count]


def _group_by_language(table: Table) -> Mapping[str, Sequence[rows.Row]]:
    """The enabled rows with translations, by language."""
    grouped: dict[str, list[rows.Row]] = {}
    for row in table.enabled:
        stored = getattr(row, "translations", None)
        for language in stored if isinstance(stored, Mapping) else ():
            if find_translations(stored, language):
                grouped.setdefault(language, []).append(row)
    return grouped
