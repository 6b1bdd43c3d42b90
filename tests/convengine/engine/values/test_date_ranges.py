"""Two days in one phrase (R114)."""

from datetime import UTC, datetime

import pytest

from convengine.engine.values import FieldSpec, Kind, ReadingSituation, find_values

#: A Sunday.
NOW = datetime(2026, 6, 7, 20, 30, tzinfo=UTC)
SPECS = [FieldSpec(name, Kind.DATE, minimum="today", is_paired=True) for name in ("first", "last")]


def read(text: str, locale: str) -> tuple[str | None, ...]:
    spans = find_values(SPECS, text, ReadingSituation(NOW, "Europe/Berlin", locale))
    values = {span.field: span.readings[span.field].value for span in spans if span.field}
    return tuple(values.get(spec.name) for spec in SPECS)


@pytest.mark.parametrize(
    ("locale", "text", "first", "last"),
    [
        ("de-DE", "wir möchten vom 4. bis 11. Juli mit 4 Personen kommen", "2026-07-04", "2026-07-11"),
        ("de-DE", "4.-11.7.", "2026-07-04", "2026-07-11"),
        ("de-DE", "4.7.-11.7.2026", "2026-07-04", "2026-07-11"),
        ("de-DE", "vom 28. bis 3. Juli", "2026-06-28", "2026-07-03"),
        ("de-DE", "28. Dezember bis 3. Januar", "2026-12-28", "2027-01-03"),
        ("de-DE", "zwischen dem 4. und dem 11. Juli", "2026-07-04", "2026-07-11"),
        ("de-DE", "mo-fr nächste woche", "2026-06-08", "2026-06-12"),
        ("de-DE", "von Samstag bis Samstag", "2026-06-13", "2026-06-20"),
        ("de-DE", "für 7 Nächte ab dem 4.", "2026-07-04", "2026-07-11"),
        ("de-DE", "ab morgen für eine Woche", "2026-06-08", "2026-06-15"),
        ("en-GB", "from the 4th to the 11th of July", "2026-07-04", "2026-07-11"),
        ("en-GB", "July 4 to 11", "2026-07-04", "2026-07-11"),
        ("en-GB", "Mon to Fri next week please", "2026-06-08", "2026-06-12"),
        ("en-GB", "7 nights from 4 July", "2026-07-04", "2026-07-11"),
        ("en-GB", "1st of July til end of August", "2026-07-01", "2026-08-31"),
        ("en-GB", "from the 3rd until the end of September", "2026-07-03", "2026-09-30"),
        ("en-GB", "tomorrow to the end of the month", "2026-06-08", "2026-06-30"),
        ("en-GB", "1 July until the end of the year", "2026-07-01", "2026-12-31"),
        ("en-GB", "starting 2 July, ending 30 July", "2026-07-02", "2026-07-30"),
        ("en-GB", "10 July for 3 months", "2026-07-10", "2026-10-10"),
        ("en-GB", "a fortnight from 3 July", "2026-07-03", "2026-07-17"),
        ("en-GB", "the whole of July please", "2026-07-01", "2026-07-31"),
        ("de-DE", "1. Juli bis Ende August", "2026-07-01", "2026-08-31"),
        ("de-DE", "von Montag bis einschließlich Freitag", "2026-06-08", "2026-06-12"),
        ("de-DE", "ab 10. Juli für 3 Monate", "2026-07-10", "2026-10-10"),
        ("de-DE", "morgen bis Monatsende", "2026-06-08", "2026-06-30"),
        ("de-DE", "den ganzen Juli", "2026-07-01", "2026-07-31"),
        ("de-DE", "von 10 bis 12 Uhr", None, None),
        ("de-DE", "nicht vom 4. bis 11. Juli", None, None),
        ("en-GB", "2 to 4 guests", None, None),
    ],
)
def test_a_range_gives_both_days(locale: str, text: str, first: str | None, last: str | None) -> None:
    assert read(text, locale) == (first, last)
