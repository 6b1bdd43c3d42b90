"""How a stored value is said, in a question, an echo or a confirmation."""

from typing import Any

import pytest

from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.say import say_value

VISIT = {"type": "string", "x-options": [{"value": "CLEAN", "label": "Cleaning"}]}
EURO = {"type": "number", "x-currency": "EUR"}


@pytest.mark.parametrize(
    ("declared", "value", "locale", "text"),
    [
        ({"format": "date"}, "2026-11-27", "en-GB", "Friday 27 November 2026"),
        ({"format": "date"}, "2026-11-27", "en-US", "Friday, November 27, 2026"),
        ({"format": "date"}, "2026-11-27", "de-DE", "Freitag, 27. November 2026"),
        ({"format": "date"}, "2026-11-27", "fr-FR", "vendredi 27 novembre 2026"),
        ({"format": "time"}, "16:30", "en-GB", "16:30"),
        ({"format": "time"}, "16:30", "en-US", "4:30 PM"),
        ({"format": "time"}, "16:30", "de-DE", "16:30 Uhr"),
        ({"format": "time"}, "16:30", "fr-FR", "16h30"),
        ({"format": "time"}, "16:30", "fr-CA", "16 h 30"),
        ({"format": "date-time"}, "2026-11-27T16:00:00+01:00", "en-GB", "Friday 27 November 2026, 16:00"),
        ({"format": "date-time"}, "2026-11-27T16:00:00+01:00", "de-DE", "Freitag, 27. November 2026, 16:00 Uhr"),
        ({"format": "duration"}, "PT1H30M", "en-GB", "1 hour and 30 minutes"),
        ({"format": "duration"}, "P2W", "de-DE", "2 Wochen"),
        ({"format": "duration"}, "PT1H30M", "nl-NL", "1 uur en 30 minuten"),
        (EURO, 1200.5, "en-GB", "€1,200.50"),
        (EURO, 1200.5, "de-DE", "1.200,50 €"),
        # With the blanks that break no line.
        (EURO, 1200.5, "fr-FR", "1\u202f200,50\xa0€"),
        ({"type": "number", "x-currency": "CHF"}, 20, "de-CH", "CHF 20"),
        ({"type": "number", "x-currency": "CHF"}, 12000.5, "de-CH", "CHF 12’000.50"),
        ({"type": "number", "x-currency": "CHF"}, 12000.5, "fr-CH", "CHF 12’000.50"),
        ({"type": "number"}, 1.5, "de-DE", "1,5"),
        ({"type": "number"}, 12000, "en-GB", "12,000"),
        ({"type": "number"}, 2026, "en-GB", "2026"),
        ({"format": "date-time"}, "2026-11-27T16:00:00+01:00", "es-ES", "viernes, 27 de noviembre de 2026, 16:00"),
        ({"format": "time"}, "16:30", "es-MX", "4:30 p. m."),
        (EURO, 1200.5, "es-ES", "1.200,50 €"),
        ({"type": "number", "x-currency": "ARS"}, 1200.5, "es-AR", "$ 1.200,50"),
        ({"format": "duration"}, "PT1H30M", "es-ES", "1 hora y 30 minutos"),
        ({"format": "date"}, "2026-11-27", "it-IT", "venerdì 27 novembre 2026"),
        ({"format": "date-time"}, "2026-11-27T16:00:00+01:00", "it-IT", "venerdì 27 novembre 2026, ore 16:00"),
        ({"format": "time"}, "16:30", "it-CH", "16.30"),
        ({"format": "duration"}, "PT1H30M", "it-IT", "1 ora e 30 minuti"),
        (EURO, 1200.5, "it-IT", "1.200,50 €"),
        ({"type": "number", "x-currency": "CHF"}, 12000.5, "it-CH", "CHF 12’000.50"),
        ({"format": "date"}, "2026-11-27", "pt-BR", "sexta-feira, 27 de novembro de 2026"),
        ({"format": "time"}, "16:30", "pt-BR", "16:30"),
        ({"format": "time"}, "16:30", "pt-PT", "16h30"),
        (EURO, 1200.5, "pt-PT", "1.200,50 €"),
        ({"type": "number", "x-currency": "BRL"}, 1200.5, "pt-BR", "R$ 1.200,50"),
        ({"format": "date"}, "2026-11-27", "nl-NL", "vrijdag 27 november 2026"),
        ({"format": "time"}, "16:30", "nl-NL", "16:30 uur"),
        ({"format": "time"}, "09:05", "nl-BE", "9u05"),
        (EURO, 1200.5, "nl-NL", "€ 1.200,50"),
        (VISIT, "CLEAN", "en-GB", "Cleaning"),
        ({"type": "boolean"}, False, "de-DE", "nein"),
        ({"format": "phone"}, "+442079460018", "en-GB", "+44 20 7946 0018"),
        ({"format": "iban"}, "DE89370400440532013000", "en-GB", "DE89 3704 0044 0532 0130 00"),
        ({"type": "string"}, "John", "en-GB", "John"),
        ({"type": "string"}, None, "en-GB", ""),
        ({"format": "date"}, "not a date", "en-GB", "not a date"),
    ],
)
def test_a_value_is_said_in_full(declared: dict[str, Any], value: Any, locale: str, text: str) -> None:
    assert say_value(field_spec("field", declared), value, locale) == text
