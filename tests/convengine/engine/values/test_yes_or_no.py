"""A yes or no as the value of a field, with what people add to it."""

from datetime import UTC, datetime

import pytest

from convengine.engine.values import (
    FieldSpec,
    Kind,
    ReadingSituation,
    agrees_behind_no,
    confirms_behind_no,
    field_spec,
    finds_fault,
    orders_action,
    read_opening,
    read_value,
    says_yes_or_no,
)
from convengine.engine.values.yes_or_no import is_undecided

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("Nein, ich zahle selbst", "de-DE", False),
        ("ja, vom Hausarzt", "de-DE", True),
        ("no, I pay myself", "en-GB", False),
        ("thanks, yes please", "en-GB", True),
        ("oh sorry, no thx", "en-GB", False),
        ("yes I have one from my doctor", "en-GB", True),
        ("no, at 5", "en-GB", None),
        ("nein, lieber Dienstag", "de-DE", None),
        ("no, why do you ask?", "en-GB", None),
    ],
)
def test_an_answer_may_begin_with_yes_or_no(text: str, locale: str, value: bool | None) -> None:
    spec = FieldSpec("prescription", Kind.YES_NO, json_type="boolean")

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("yes 1 racket please", "en-GB", True),
        ("yes for all 4 of us", "en-GB", True),
        ("he needs one, yes", "en-GB", True),
        ("ja, vor drei Jahren", "de-DE", True),
        ("ich glaube nicht, nein", "de-DE", False),
        ("yes at 3", "en-GB", None),
        ("no 4", "en-GB", None),
        ("I don't know, yes", "en-GB", None),
        ("he needs one, yes?", "en-GB", None),
    ],
)
def test_a_yes_or_no_may_stand_beside_a_number_and_at_the_end(text: str, locale: str, value: bool | None) -> None:
    spec = FieldSpec("rackets", Kind.YES_NO, json_type="boolean")

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("just outside", "en-GB", False),
        ("only the outside please", "en-GB", False),
        ("outside only then", "en-GB", False),
        ("nur außen", "de-DE", False),
        ("it is dirty outside", "en-GB", None),
    ],
)
def test_the_opposite_of_what_is_asked_is_a_no(text: str, locale: str, value: bool | None) -> None:
    spec = FieldSpec("inside", Kind.YES_NO, json_type="boolean", words=("inside", "innen", "too"))

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("my son has an allergy, so yes", "en-GB", True),
        ("take it all away yeah", "en-GB", True),
        ("die auch, also ja", "de-DE", True),
        ("I don't care yeah", "en-GB", None),
    ],
)
def test_the_conclusion_of_a_sentence_is_a_yes(text: str, locale: str, value: bool | None) -> None:
    spec = FieldSpec("free", Kind.YES_NO, json_type="boolean")

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("none that I know of", "en-GB", False),
        ("no one does", "en-GB", False),
        ("not sure, I think no", "en-GB", False),
        ("not to my knowledge", "en-GB", False),
        ("I think", "en-GB", None),
        ("weiß ich nicht genau, ich glaube nein", "de-DE", False),
        ("hm, soweit ich weiß nicht", "de-DE", False),
        ("ich glaube schon", "de-DE", True),
        ("ich glaube", "de-DE", None),
    ],
)
def test_a_yes_or_no_may_be_hedged(text: str, locale: str, value: bool | None) -> None:
    spec = FieldSpec("injury", Kind.YES_NO, json_type="boolean")

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("ja, 4. Stock ohne Aufzug", "de-DE", True),
        ("yes, there are 3 steps", "en-GB", True),
        ("yes, but change the day", "en-GB", None),
        ("no nuts please, yes", "en-GB", True),
    ],
)
def test_a_clause_of_its_own_says_yes(text: str, locale: str, value: bool | None) -> None:
    spec = FieldSpec("help", Kind.YES_NO, json_type="boolean")

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("i am not sure", "en-GB"),
        ("I'm not sure", "en-GB"),
        ("I do, not sure", "en-GB"),
        ("yes I'm not sure", "en-GB"),
        ("ich bin nicht sicher", "de-DE"),
        ("bin mir nicht sicher", "de-DE"),
        ("ja, weiß nicht genau", "de-DE"),
        ("ok, we don't need it", "en-GB"),
        ("yes, without", "en-GB"),
        ("ja, brauche ich nicht", "de-DE"),
    ],
)
def test_a_doubt_is_no_yes(text: str, locale: str) -> None:
    spec = FieldSpec("injury", Kind.YES_NO, json_type="boolean")

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is not True


def read_field(text: str, locale: str, title: str, question: str) -> bool | None:
    spec = field_spec("thing", {"type": "boolean", "title": title, "x-ask": question})
    return read_value(spec, text, ReadingSituation(NOW, locale=locale)).value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("good, a projector isn't needed", "en-GB", False),
        ("we don't need a projector then", "en-GB", False),
        ("there is no hurry with that projector, is there?", "en-GB", None),
        ("the projector is not the problem", "en-GB", None),
        ("gut, Beamer brauchen wir keinen", "de-DE", False),
        ("einen Beamer brauchen wir nicht", "de-DE", False),
        ("na brauch ma nicht", "de-DE", False),
        ("nicht ohne Beamer", "de-DE", None),
        ("nicht nur den Beamer", "de-DE", None),
    ],
)
def test_who_denies_the_thing_says_no(text: str, locale: str, value: bool | None) -> None:
    if locale == "en-GB":
        assert read_field(text, locale, "Projector", "Do you need a projector?") is value
    else:
        assert read_field(text, locale, "Beamer", "Brauchen Sie einen Beamer?") is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("just the front", "en-GB", False),
        ("only one side please", "en-GB", False),
        ("only if it is cheap", "en-GB", None),
        ("just do both", "en-GB", None),
        ("only the front?", "en-GB", None),
        ("nur vorne", "de-DE", False),
        ("bloß eine Seite", "de-DE", False),
        ("nur wenn es nichts kostet", "de-DE", None),
    ],
)
def test_who_wants_only_one_of_both_says_no(text: str, locale: str, value: bool | None) -> None:
    if locale == "en-GB":
        assert read_field(text, locale, "Double-sided", "Shall we print both sides?") is value
    else:
        assert read_field(text, locale, "Beidseitig", "Sollen wir beide Seiten bedrucken?") is value


@pytest.mark.parametrize("text", ["just the front", "no rush", "a projector isn't needed", "then no rush"])
def test_such_a_no_answers_no_confirmation(text: str) -> None:
    assert says_yes_or_no(text, "en-GB") is None
    assert read_opening(text, "en-GB") is None


@pytest.mark.parametrize("text", ["just a small one", "only on Sunday", "just for two", "only for me please"])
def test_who_limits_one_thing_does_not_refuse_it(text: str) -> None:
    assert read_field(text, "en-GB", "Breakfast", "Would you like breakfast as well?") is None


@pytest.mark.parametrize(
    ("question", "text", "locale", "value"),
    [
        ("Shall we pack and do the assembly?", "with assembly please", "en-GB", True),
        ("Shall we pack and do the assembly?", "without assembly", "en-GB", False),
        ("Shall we pack and do the assembly?", "with my brother", "en-GB", None),
        ("Shall we pack and do the assembly?", "with assembly?", "en-GB", None),
        ("Do you want it without the box?", "with box", "en-GB", None),
        ("Sollen wir auch montieren und anschließen?", "mit Anschluss bitte", "de-DE", None),
        ("Sollen wir verpacken und die Möbel montieren?", "inklusive Möbel", "de-DE", True),
        ("Brauchen Sie Frühstück?", "mit Frühstück bitte", "de-DE", True),
        ("Brauchen Sie Frühstück?", "bitte ohne Frühstück", "de-DE", False),
        ("Brauchen Sie Frühstück?", "mit meiner Frau", "de-DE", None),
    ],
)
def test_with_the_thing_of_the_question_is_a_yes(question: str, text: str, locale: str, value: bool | None) -> None:
    spec = field_spec("extra", {"type": "boolean", "title": "Extra", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale, is_asked=True)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "question", "value"),
    [
        ("no just the small one is fine", "en-GB", "Would you like a large frame?", False),
        ("no, my sister's great at that", "en-GB", "Would you like a speaker?", False),
        ("nein, der kleine ist super", "de-DE", "Möchten Sie einen großen Rahmen?", False),
        ("nein, lieber Freitag", "de-DE", "Möchten Sie einen großen Rahmen?", None),
        ("no wait, yes", "en-GB", "Would you like a large frame?", True),
        ("passt schon ohne", "de-DE", "Möchten Sie einen Rahmen?", None),
        ("den Ausweis hab ich dabei", "de-DE", "Haben Sie einen Mitgliedsausweis?", True),
        ("we've got the form here", "en-GB", "Do you have a referral form?", True),
        ("gibts für den Garten keinen", "de-DE", "Haben Sie einen Wasseranschluss?", False),
        ("there isn't one in the shed", "en-GB", "Do you have a power socket?", False),
        ("I don't have one", "en-GB", "Do you need a towel?", None),
        ("have you", "en-GB", "Do you have a referral form?", None),
        ("we are fine", "en-GB", "Do you need a towel?", False),
        ("just in case", "en-GB", "Would you like an extra towel?", True),
    ],
)
def test_an_answer_says_yes_or_no_with_its_reason(text: str, locale: str, question: str, value: bool | None) -> None:
    spec = field_spec("extra", {"type": "boolean", "title": "Extra", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("question", "text", "locale", "value"),
    [
        ("Do you need a ramp?", "no we do need one", "en-GB", True),
        ("Do you need a ramp?", "oh no, we need the ramp", "en-GB", True),
        ("Do you need a ramp?", "nope, my mistake, we really do need one", "en-GB", True),
        ("Do you need a ramp?", "no sorry, they need a ramp for my gran", "en-GB", True),
        ("Do you need a ramp?", "no we don't need one", "en-GB", False),
        ("Do you need a ramp?", "no we want a lift", "en-GB", False),
        ("Would you like a different ramp?", "no I like it", "en-GB", False),
        ("Would you like to return the ramp?", "no I want it", "en-GB", False),
        ("Do you own a ramp?", "no we need one", "en-GB", False),
        ("Brauchen Sie eine Rampe?", "nein, wir brauchen schon eine", "de-DE", True),
        ("Brauchen Sie eine Rampe?", "nee die Rampe brauchen wir doch", "de-DE", True),
        ("Brauchen Sie eine Rampe?", "nein, wir brauchen keine", "de-DE", False),
        ("Brauchen Sie eine Rampe?", "nein, brauchen wir nicht", "de-DE", False),
    ],
)
def test_what_is_wished_for_behind_a_no_counts(question: str, text: str, locale: str, value: bool | None) -> None:
    spec = field_spec("ramp", {"type": "boolean", "title": "Ramp" if locale == "en-GB" else "Rampe", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "agrees", "confirms"),
    [
        ("no no, all correct", "en-GB", True, True),
        ("no, nothing to change", "en-GB", True, True),
        ("no changes needed thanks", "en-GB", True, True),
        ("no thats fine", "en-GB", True, False),
        ("no that's not correct", "en-GB", False, False),
        ("no, correct the date", "en-GB", False, False),
        ("no", "en-GB", False, False),
        ("all correct", "en-GB", False, False),
        ("nein nein, stimmt alles", "de-DE", True, True),
        ("nö, keine Änderungen", "de-DE", True, True),
        ("nee passt so", "de-DE", True, False),
        ("nah it's all right", "en-GB", True, False),
        ("no further changes", "en-GB", True, True),
        ("no objections", "en-GB", True, True),
        ("nein, alles in Ordnung", "de-DE", True, True),
        ("nein, so lassen", "de-DE", True, False),
        ("nein, stimmt nicht", "de-DE", False, False),
    ],
)
def test_a_yes_behind_a_no_says_whether_the_values_are_right(
    text: str, locale: str, agrees: bool, confirms: bool
) -> None:
    assert (agrees_behind_no(text, locale), confirms_behind_no(text, locale)) == (agrees, confirms)


@pytest.mark.parametrize(
    ("question", "text", "locale", "value"),
    [
        ("Will it stand on a public road?", "on the street unfortunately, there's no drive", "en-GB", True),
        ("Will it stand on a public road?", "it stands on our own land", "en-GB", False),
        ("Will it stand on a public road?", "we have no drive", "en-GB", None),
        ("Are you coming alone?", "with my partner", "en-GB", False),
        ("Is it new or used?", "used", "en-GB", None),
        ("Is the bike new?", "yes it's used", "en-GB", None),
        ("Is the bike new?", "no it's new", "en-GB", None),
        ("Is the bike new?", "no it's old", "en-GB", False),
        ("Sind Sie privat versichert?", "ja, gesetzlich", "de-DE", None),
        ("Sind Sie privat versichert?", "bei der AOK", "de-DE", False),
        ("Steht er auf öffentlicher Straße?", "nein, auf unserem Hof", "de-DE", False),
        ("Steht er auf öffentlicher Straße?", "auf der Straße leider", "de-DE", True),
    ],
)
def test_the_same_or_the_opposite_of_what_is_asked_answers(
    question: str, text: str, locale: str, value: bool | None
) -> None:
    spec = field_spec("flag", {"type": "boolean", "title": "Flag", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("locale", "text", "value"),
    [
        ("de-DE", "ja wenn es regnet", None),
        ("de-DE", "ja, falls noch platz ist", None),
        ("de-DE", "ja lass mich kurz schauen", None),
        ("de-DE", "ja moment ich frag meine frau", None),
        ("de-DE", "ja vielleicht", None),
        ("de-DE", "wenn sie meinen ja", None),
        ("de-DE", "ja wieso fragen sie", None),
        ("de-DE", "ja wenn möglich", True),
        ("de-DE", "ja, wenn's geht", True),
        ("de-DE", "moment, ja", True),
        ("de-DE", "nein, außer es regnet", False),
        ("en-GB", "yes if it rains", None),
        ("en-GB", "yes, as long as it's free", None),
        ("en-GB", "yes let me check", None),
        ("en-GB", "yes hang on", None),
        ("en-GB", "yes maybe", None),
        ("en-GB", "if you say so yes", None),
        ("en-GB", "yes, why do you ask", None),
        ("en-GB", "yes if possible", True),
        ("en-GB", "yes, if that's ok", True),
        ("en-GB", "hang on, yes", True),
        ("en-GB", "no, not even if it rains", False),
    ],
)
def test_a_yes_on_a_condition_and_one_that_waits_are_none(locale: str, text: str, value: bool | None) -> None:
    question = "Brauchen Sie ein Zelt?" if locale == "de-DE" else "Do you need a tent?"
    spec = field_spec("tent", {"type": "boolean", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("locale", "question", "text"),
    [
        ("de-DE", "Sollen wir anrufen, wenn es fertig ist?", "ja, anrufen wenn es fertig ist"),
        ("en-GB", "Shall we call you if it is ready earlier?", "yes call me if it is ready earlier"),
    ],
)
def test_a_condition_of_the_question_is_none_of_the_yes(locale: str, question: str, text: str) -> None:
    spec = field_spec("call", {"type": "boolean", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is True


@pytest.mark.parametrize(
    ("locale", "question", "text", "value"),
    [
        ("de-DE", "Möchten Sie vor Ort warten?", "ich warte dann", True),
        ("de-DE", "Möchten Sie vor Ort warten?", "ja gut ich warte", True),
        ("de-DE", "Möchten Sie vor Ort warten?", "ich warte auf den bus", None),
        ("de-DE", "Möchten Sie vor Ort warten?", "ich warte nicht", None),
        ("de-DE", "Möchten Sie vor Ort warten?", "ja warte mal", None),
        ("de-DE", "Möchten Sie warten oder später kommen?", "ich warte", None),
        ("de-DE", "Sind Sie zum ersten Mal bei uns?", "das erste mal", True),
        ("de-DE", "Brauchen Sie einen Parkplatz?", "ich brauche hilfe", None),
        ("en-GB", "Would you like to wait?", "I'll wait", True),
        ("en-GB", "Would you like to wait?", "yes wait a minute", None),
        ("en-GB", "Would you like to wait?", "I can't wait", None),
        ("en-GB", "Is this your first visit?", "it's my first visit", True),
        ("en-GB", "Do you need a parking space?", "I need a parking space", True),
        ("en-GB", "Do you need a parking space?", "I need help", None),
    ],
)
def test_a_question_said_as_a_statement_is_a_yes(locale: str, question: str, text: str, value: bool | None) -> None:
    spec = field_spec("extra", {"type": "boolean", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("locale", "text", "value"),
    [
        ("de-DE", "wieso kinderstuhl? nein", False),
        ("de-DE", "was kostet der? ja bitte", True),
        ("de-DE", "wieso kinderstuhl?", None),
        ("de-DE", "ja? was kostet der?", None),
        ("en-GB", "why a high chair? no", False),
        ("en-GB", "what does it cost? yes please", True),
        ("en-GB", "yes? what does it cost?", None),
    ],
)
def test_the_answer_may_stand_behind_a_question(locale: str, text: str, value: bool | None) -> None:
    question = "Brauchen Sie einen Kinderstuhl?" if locale == "de-DE" else "Do you need a high chair?"
    spec = field_spec("chair", {"type": "boolean", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("sie hat bisher keins nein", "de-DE", False),
        ("noch keine", "de-DE", False),
        ("doch, hat sie", "de-DE", True),
        ("er hat schon welche", "de-DE", True),
        ("da sag ich nicht nein", "de-DE", None),
        ("she hasn't got one no", "en-GB", False),
        ("none so far no", "en-GB", False),
        ("I won't say no", "en-GB", None),
    ],
)
def test_a_no_at_the_end_repeats_what_is_denied(text: str, locale: str, value: bool | None) -> None:
    german = {"title": "Hörgerät", "x-ask": "Ist schon ein Gerät vorhanden?"}
    declared = german if locale == "de-DE" else {"title": "Hearing aid", "x-ask": "Has she got one?"}
    spec = field_spec("aid", {"type": "boolean", **declared})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("nö, hole ich ab", "de-DE", False),
        ("auch selbst abholen", "de-DE", False),
        ("bitte liefern", "de-DE", True),
        ("ab Freitag", "de-DE", None),
        ("no, I'll fetch it", "en-GB", False),
        ("we'll collect", "en-GB", False),
        ("deliver it please", "en-GB", True),
        ("up to you", "en-GB", None),
    ],
)
def test_who_collects_wants_no_delivery(text: str, locale: str, value: bool | None) -> None:
    question = "Sollen wir liefern?" if locale == "de-DE" else "Shall we deliver?"
    spec = field_spec("delivery", {"type": "boolean", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("no rush, normal is fine", "en-GB", False),
        ("not in a hurry, standard will do", "en-GB", False),
        ("there is no rush. the usual service", "en-GB", False),
        ("it can wait", "en-GB", False),
        ("no need, the slow one is enough", "en-GB", False),
        ("no rush, but I would like express", "en-GB", None),
        ("no rush, express please", "en-GB", None),
        ("no rush, Friday", "en-GB", None),
        ("no problem, go ahead", "en-GB", None),
        ("no idea, you decide", "en-GB", None),
        ("keine Eile, normal reicht", "de-DE", False),
        ("das hat Zeit", "de-DE", False),
        ("nicht nötig, die normale reicht", "de-DE", False),
        ("keine Eile, aber express wär gut", "de-DE", None),
        ("nicht eilig, Freitag", "de-DE", None),
        ("kein Problem, machen Sie ruhig", "de-DE", None),
    ],
)
def test_a_no_may_begin_with_why_the_thing_is_not_needed(text: str, locale: str, value: bool | None) -> None:
    question = "Möchten Sie Express?" if locale == "de-DE" else "Would you like express?"
    spec = field_spec("express", {"type": "boolean", "title": "Express", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("ja danke bis gleich", "de-DE", True),
        ("jo, bis dann", "de-DE", True),
        ("passt, bis später!", "de-DE", True),
        ("ja, bis morgen", "de-DE", True),
        ("stimmt alles, man sieht sich", "de-DE", True),
        ("nein danke, tschüss", "de-DE", False),
        ("ja bis Montag", "de-DE", None),
        ("ja, aber nur bis morgen", "de-DE", None),
        ("bis gleich", "de-DE", None),
        ("yes thanks, see you later", "en-GB", True),
        ("yep cheers see you", "en-GB", True),
        ("ok see you tomorrow", "en-GB", True),
        ("perfect, bye for now", "en-GB", True),
        ("no thanks, bye", "en-GB", False),
        ("see you", "en-GB", None),
        ("yes but see you later than that", "en-GB", None),
    ],
)
def test_a_farewell_is_a_courtesy_beside_a_yes_or_no(text: str, locale: str, value: bool | None) -> None:
    assert says_yes_or_no(text, locale) is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("yes I'm half blind without", "en-GB", True),
        ("yeah I can't get up the stairs without", "en-GB", True),
        ("yes because I haven't got another one", "en-GB", True),
        ("yes I have no other", "en-GB", True),
        ("yes my old one is broken", "en-GB", True),
        ("yes, without", "en-GB", None),
        ("yes please without", "en-GB", None),
        ("yes no", "en-GB", None),
        ("yes I don't need it", "en-GB", None),
        ("yes we can do without", "en-GB", None),
        ("yes if it costs nothing", "en-GB", None),
        ("yes or maybe no", "en-GB", None),
        ("yes?", "en-GB", None),
        ("no I'm fine without", "en-GB", False),
        ("ja ich bin aufgeschmissen ohne", "de-DE", True),
        ("ja ich hab kein anderes", "de-DE", True),
        ("ja weil meins nicht mehr geht", "de-DE", True),
        ("ja, ohne", "de-DE", None),
        ("ja geht auch ohne", "de-DE", None),
        ("ja brauch ich nicht", "de-DE", None),
        ("ja nein", "de-DE", None),
        ("nein ich komm ohne klar", "de-DE", False),
    ],
)
def test_a_yes_may_have_a_reason_that_does_not_take_it_back(text: str, locale: str, value: bool | None) -> None:
    question = "Do you need a spare?" if locale == "en-GB" else "Brauchen Sie einen Ersatz?"
    spec = field_spec("spare", {"type": "boolean", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "question", "orders"),
    [
        ("ja, tragen Sie das bitte ein", "Soll ich den Kurs eintragen?", True),
        ("ja trag ein", "Soll ich den Kurs eintragen?", True),
        ("jawohl, schicken Sie es ab", "Soll ich die Anmeldung abschicken?", True),
        ("ja, das können Sie so buchen, danke", "Soll ich den Tisch buchen?", True),
        ("ja tragen Sie es ein", "Stimmt alles?", True),
        ("ja tragen Sie das nicht ein", "Soll ich den Kurs eintragen?", False),
        ("ja tragen Sie das um", "Soll ich den Kurs eintragen?", False),
        ("ja tragen Sie Freitag ein", "Soll ich den Kurs eintragen?", False),
        ("ja, tragen Sie bitte Maria ein", "Soll ich den Kurs eintragen?", False),
        ("ja, aber tragen Sie 18 Uhr ein", "Soll ich den Kurs eintragen?", False),
        ("tragen Sie das ein", "Soll ich den Kurs eintragen?", False),
    ],
)
def test_a_yes_may_order_what_the_confirmation_asks(text: str, question: str, orders: bool) -> None:
    assert orders_action(text, question, "de-DE") is orders


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("yes you can book the plumber", True),
        ("yep make the booking", True),
        ("good, book it in then", True),
        ("yes book it for friday", False),
        ("yes but book him for 6", False),
        ("yes don't book it", False),
        ("yes can I book two", False),
    ],
)
def test_a_yes_may_order_it_in_english(text: str, orders: bool) -> None:
    assert orders_action(text, "Shall I book the plumber?", "en-GB") is orders


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("not shy no", "en-GB", False),
        ("she is shy", "en-GB", True),
        ("hes shy", "en-GB", True),
        ("a bit shy", "en-GB", True),
        ("she's not shy, just slow", "en-GB", False),
        ("dont think hes shy", "en-GB", False),
        ("sometimes shy", "en-GB", None),
        ("she was shy", "en-GB", None),
        ("not sure if shy", "en-GB", None),
        ("shy?", "en-GB", None),
        ("nicht schüchtern", "de-DE", False),
        ("schüchtern nein", "de-DE", False),
        ("er ist sehr schüchtern", "de-DE", True),
        ("der war schüchtern", "de-DE", None),
    ],
)
def test_a_question_is_answered_with_its_own_adjective(text: str, locale: str, value: bool | None) -> None:
    question, title = ("Ist das Tier schüchtern?", "Schüchtern") if locale == "de-DE" else ("Is your cat shy?", "Shy")
    spec = field_spec("shy", {"type": "boolean", "title": title, "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("den Rasen machen wir selbst, also nicht mähen", False),
        ("bitte mähen", True),
        ("lieber nicht mähen", False),
        ("keine Eile, aber mähen wär gut", None),
        ("was kostet das mähen", None),
        ("Moment, mähen", None),
    ],
)
def test_a_question_is_answered_with_its_own_verb(text: str, value: bool | None) -> None:
    spec = field_spec("mow", {"type": "boolean", "title": "Mähen", "x-ask": "Sollen wir auch mähen?"})

    assert read_value(spec, text, ReadingSituation(NOW, locale="de-DE")).value is value


@pytest.mark.parametrize(
    ("text", "question", "locale"),
    [
        ("yes, 3 adults please", "Shall I book 2 adults and 3 children?", "en-GB"),
        ("yes, book three adults", "Shall I book two adults and three children?", "en-GB"),
        ("yes make the booking", "Shall I cancel the booking?", "en-GB"),
        ("ok, put that off for now", "Shall I book it?", "en-GB"),
        ("ok can you put me through", "Shall I book it?", "en-GB"),
        ("yes just me", "Shall I book it?", "en-GB"),
        ("ja, 3 Erwachsene", "Soll ich 2 Erwachsene und 3 Kinder buchen?", "de-DE"),
        ("ja bitte den Termin so buchen", "Soll ich den Termin stornieren?", "de-DE"),
        ("ok kannst du mich gleich weiterleiten", "Soll ich das buchen?", "de-DE"),
    ],
)
def test_a_yes_that_counts_or_asks_for_something_else_orders_nothing(text: str, question: str, locale: str) -> None:
    assert not orders_action(text, question, locale)


@pytest.mark.parametrize(("text", "locale"), [("ok, put it off", "en-GB"), ("ok, leiten Sie mich weiter", "de-DE")])
def test_putting_off_and_a_person_are_no_yes(text: str, locale: str) -> None:
    assert read_opening(text, locale) is None


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("sounds perfect, see you there!", "en-GB", True),
        ("brilliant, cheers", "en-GB", True),
        ("yesss finally 😀", "en-GB", True),
        ("sounds great but", "en-GB", None),
        ("sounds great, is it free?", "en-GB", None),
        ("unbedingt, wir freuen uns", "de-DE", True),
        ("klingt super, so machen wir das", "de-DE", True),
        ("jaaaa 🎉", "de-DE", True),
        ("sehr gut, aber", "de-DE", None),
    ],
)
def test_delight_is_a_yes_to_a_question(text: str, locale: str, value: bool | None) -> None:
    assert read_opening(text, locale) is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("hmm no, something isn't right", "en-GB", True),
        ("I'd like to change something please", "en-GB", True),
        ("that's right", "en-GB", False),
        ("something isn't right with my bike", "en-GB", False),
        ("nee, da stimmt was nicht", "de-DE", True),
        ("da ist leider ein Fehler", "de-DE", True),
        ("ich muss noch was ändern", "de-DE", True),
        ("das stimmt", "de-DE", False),
    ],
)
def test_a_fault_may_be_told_without_saying_which(text: str, locale: str, value: bool) -> None:
    assert finds_fault(text, locale) is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("that'd be brilliant, thanks", "en-GB", True),
        ("we're bringing our own so no", "en-GB", False),
        ("yes but it's 3 months old", "en-GB", True),
        ("yes but it's for Friday", "en-GB", None),
        ("jap, liegt hier", "de-DE", True),
        ("nicht so richtig", "de-DE", False),
        ("mein Mann hat eins, also nein", "de-DE", False),
        ("ja aber das ist schon 2 Wochen alt", "de-DE", True),
        ("ja aber lieber um 6", "de-DE", None),
    ],
)
def test_a_remark_beside_a_yes_or_no_takes_nothing_back(text: str, locale: str, value: bool | None) -> None:
    spec = FieldSpec("prescription", Kind.YES_NO, json_type="boolean")

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale, is_asked=True)).value is value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("sadly yes, a big one", "en-GB", True),
        ("well then yes", "en-GB", True),
        ("oh go on then yes", "en-GB", True),
        ("that's a yes from me", "en-GB", True),
        ("yes no problem", "en-GB", True),
        ("I can, my husband is home then", "en-GB", True),
        ("no sorry I work", "en-GB", False),
        ("that's a no from us", "en-GB", False),
        ("unhappily no, we have a baby", "en-GB", False),
        ("I would have to say no", "en-GB", False),
        ("ach na gut, ja", "de-DE", True),
        ("leider ja, ein großes", "de-DE", True),
        ("leider nein, ich arbeite da", "de-DE", False),
        ("yes and no", "en-GB", None),
        ("jein", "de-DE", None),
        ("maybe yes", "en-GB", None),
        ("vielleicht ja", "de-DE", None),
        ("is that a no from you", "en-GB", None),
        ("she said no to me", "en-GB", None),
        ("das ist ja nett", "de-DE", None),
    ],
)
def test_the_only_yes_or_no_of_an_answer_is_its_value(text: str, locale: str, value: bool | None) -> None:
    question = "Gibt es ein Klavier?" if locale == "de-DE" else "Is there a piano?"
    spec = field_spec("piano", {"type": "boolean", "title": "Piano", "x-ask": question})

    assert read_value(spec, text, ReadingSituation(NOW, locale=locale)).value is value


@pytest.mark.parametrize("text", ["yes and no", "ja und nein"])
def test_an_undecided_answer_has_no_core(text: str) -> None:
    assert is_undecided(text, ReadingSituation(NOW, locale="de-DE", fallback_locale="en-GB"))


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("good, then yes", "en-GB", True),
        ("sounds good, ill take that", "en-GB", True),
        ("fair enough. we'll have those", "en-GB", True),
        ("gut, dann ja", "de-DE", True),
        ("prima, das nehmen wir", "de-DE", True),
        ("no, I'll take that", "en-GB", None),
        ("then yes if it is free", "en-GB", None),
        ("wenn es passt, dann ja", "de-DE", None),
    ],
)
def test_a_confirmation_may_say_that_it_is_taken(text: str, locale: str, value: bool | None) -> None:
    assert says_yes_or_no(text, locale) is value


@pytest.mark.parametrize(
    ("text", "locale", "is_fault"),
    [
        ("can I make a quick change?", "en-GB", True),
        ("need to correct a couple of things", "en-GB", True),
        ("one thing needs changing", "en-GB", True),
        ("ich möcht noch was ausbessern", "de-AT", True),
        ("hab noch zwei änderungen", "de-DE", True),
        ("na des passt so ned", "de-AT", True),
        ("that doesn't suit", "en-GB", True),
        ("can I change to Friday", "en-GB", False),
        ("ich möchte den Hund ändern", "de-DE", False),
        ("no change", "en-GB", False),
    ],
)
def test_a_wish_to_change_something_says_that_not_all_is_right(text: str, locale: str, is_fault: bool) -> None:
    assert finds_fault(text, locale) is is_fault


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("gerne so fixieren", "de-AT"), ("bitte fix eintragen", "de-AT"), ("des passt so", "de-AT"),
        ("lock it in please", "en-AU"), ("happy to go ahead with that", "en-GB"),
    ],
)  # fmt: skip
def test_a_confirmation_may_be_an_order_in_plain_words(text: str, locale: str) -> None:
    assert says_yes_or_no(text, locale) is True


@pytest.mark.parametrize(
    ("text", "value"), [("nope first time", False), ("first time for him", False), ("before tea", None)]
)
def test_the_first_time_is_no_time_before(text: str, value: bool | None) -> None:
    declared = {"type": "boolean", "title": "Been before", "x-ask": "Has your dog been groomed before?"}
    situation = ReadingSituation(NOW, locale="en-GB", is_asked=True)

    assert read_value(field_spec("before", declared), text, situation).value is value
