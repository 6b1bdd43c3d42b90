"""Which field a form asks for, and its default questions."""

import time
from typing import Any

import pytest

from convengine.engine.forms.asking import (
    asks_for_more,
    asks_for_next,
    asks_for_person,
    asks_to_wait,
    asks_why,
    blank_questions,
    drop_leaving_clauses,
    drops_subject,
    find_language,
    find_open_fields,
    find_questions,
    has_leaving_clause,
    is_phrase,
    knows_no_value,
    orders_to_stop,
    puts_off_subject,
    refers_back,
    says_nothing,
    skips_field,
    wants_to_leave,
    write_question,
    write_question_for_all,
    write_refusal,
)
from convengine.engine.forms.form import Form

CHECK_UP = {"title": "Reason", "x-options": [{"value": "C", "label": "check-up"}, {"value": "P", "label": "pain"}]}


def make_form(properties: dict[str, Any], *required: str) -> Form:
    return Form({"type": "object", "properties": properties, "required": list(required)})


def list_open(form: Form, **context: Any) -> list[str]:
    return [field.path for field in find_open_fields(form, context)]


def test_required_fields_come_in_the_order_of_x_order_else_of_the_properties() -> None:
    form = make_form({"b": {"x-order": 2}, "a": {"x-order": 1}, "c": {"x-order": 3}}, "a", "b", "c")

    assert list_open(form) == ["a", "b", "c"]
    assert list_open(make_form({"y": {}, "x": {}}, "x", "y")) == ["y", "x"]
    assert list_open(form, a="1", b="2", c="3") == []


def test_an_optional_field_is_asked_for_once_if_it_has_a_question() -> None:
    form = make_form({"a": {"x-ask": "A?"}, "b": {}, "c": {}}, "c")

    assert list_open(form) == ["a", "c"]
    assert list_open(form, a=None) == ["c"]
    assert not form.status({"c": "1"}).complete
    assert form.status({"c": "1", "a": None}).complete


def test_a_missing_object_is_asked_for_by_its_required_fields() -> None:
    address = {"type": "object", "properties": {"street": {}, "floor": {}}, "required": ["street"]}

    assert list_open(make_form({"address": address}, "address")) == ["address.street"]


@pytest.mark.parametrize(
    ("declared", "language", "question"),
    [
        ({"title": "Name"}, "en", "Please tell me: name."),
        ({"title": "IBAN"}, "en", "Please tell me: IBAN."),
        (CHECK_UP, "en", "Which reason: check-up or pain?"),
        ({"type": "boolean", "title": "first visit"}, "en", "First visit: yes or no?"),
        ({"title": "Name"}, "de", "Bitte nennen Sie mir: Name."),
        (CHECK_UP, "de", "Reason: check-up oder pain?"),
    ],
)
def test_the_default_question_follows_title_type_and_choices(declared: Any, language: str, question: str) -> None:
    (field,) = make_form({"x": declared}).fields

    assert write_question(field, language) == question


def test_a_question_for_all_names_all_fields() -> None:
    form = make_form({"name": {}, "birthDate": {}})

    assert write_question_for_all(form.fields, "en") == "Please tell me: name and birth date."


@pytest.mark.parametrize(
    ("reason", "data", "text"),
    [
        ("OUT_OF_BOUNDS", {"min": 1, "max": 5}, "“9” is not possible (from 1 to 5)."),
        ("OUT_OF_BOUNDS", {"max": 5}, "“9” is not possible (up to 5)."),
        ("NEVER_HEARD_OF", {}, "Sorry, “9” does not fit here."),
    ],
)
def test_a_refusal_says_what_is_wrong(reason: str, data: dict[str, Any], text: str) -> None:
    (field,) = make_form({"visits": {"type": "integer"}}).fields

    assert write_refusal(field, "9", reason, data, "en-GB") == text


def test_a_language_without_a_folder_is_english() -> None:
    assert [find_language(locale) for locale in ("de-DE", "de_AT", "", "fr-FR")] == ["de", "de", "en", "en"]


def test_phrases_are_whole_texts_of_any_language() -> None:
    assert is_phrase("Skip.", "skip")
    assert is_phrase("weiß nicht!", "skip")
    assert not is_phrase("skip the line", "skip")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Do you have parking?", "Do you have parking?"),
        ("do you have parking", "do you have parking"),
        ("Where's the entrance", "Where's the entrance"),
        ("Tomorrow at 3. Do you have parking?", "Do you have parking?"),
        ("4. and how much is that", "and how much is that"),
        ("9 Uhr. aber wo kann ich parken", "aber wo kann ich parken"),
        ("Do you have parking? Tomorrow at 3.", "Do you have parking?"),
        ("John Smith, and do you have parking?", "do you have parking?"),
        ("John Smith - what does it cost", "what does it cost"),
        ("parking?", "parking?"),
        ("Anna Berg, und wo kann ich parken", "wo kann ich parken"),
        ("Kann ich mit Karte zahlen", "Kann ich mit Karte zahlen"),
        ("my name is Mary Jones and where can i park", "where can i park"),
        ("07700 900123, btw do you have parking", "do you have parking"),
        ("oh, where can I park", "where can I park"),
        ("morgen um drei - übrigens, wo kann ich parken", "wo kann ich parken"),
        ("Rock and What", ""),
        ("Whatever you say", ""),
        ("Wolfgang Wieland", ""),
        ("John Smith, tomorrow", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_the_part_that_asks_is_found(text: str | None, question: str) -> None:
    assert find_questions(text) == question


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Tomorrow at 3. Do you have parking? Ann", "Tomorrow at 3.                      Ann"),
        ("Mary Jones and where can i park", "Mary Jones                     "),
        ("where can i park", "                "),
        ("Mary Jones", "Mary Jones"),
        (None, ""),
    ],
)
def test_the_rest_of_the_message_keeps_its_position(text: str | None, rest: str) -> None:
    assert blank_questions(text) == rest


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("can I just speak to someone please", True),
        ("I'd like to talk to a member of staff", True),
        ("a human please", True),
        ("kann mich bitte jemand zurückrufen?", True),
        ("ich möchte mit einem Menschen sprechen", True),
        ("Mitarbeiter bitte", True),
        ("oh, mit wem kann ich da reden?", True),
        ("who can I talk to?", True),
        ("there is someone at the door", False),
        ("speak up", False),
        ("", False),
    ],
)
def test_a_wish_for_a_person_is_one_in_any_words(text: str, asks: bool) -> None:
    assert asks_for_person(text) is asks


@pytest.mark.parametrize(("text", "empty"), [("-", True), (" – ", True), ("...", False), ("- a dog", False)])
def test_a_dash_leaves_a_field_empty(text: str, empty: bool) -> None:
    assert says_nothing(text) is empty


@pytest.mark.parametrize(
    ("text", "adds"),
    [
        ("can you do my mum's lawn too", True),
        ("und bitte auch noch ein Kleid kürzen", True),
        ("you too", False),
        ("one hour", False),
    ],
)
def test_a_message_adds_something_to_what_was_said(text: str, adds: bool) -> None:
    assert asks_for_more(text) is adds


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("why do you need to know that? never mind i'll try elsewhere", True),
        ("what is that for? never mind", True),
        ("Wofür ist das? Ach, vergessen Sie es", True),
        ("never mind?", False),
        ("what is that for?", False),
        ("can I cancel? Friday", False),
    ],
)
def test_a_question_in_front_does_not_hide_a_wish_to_leave(text: str, leaves: bool) -> None:
    assert has_leaving_clause(text) is leaves


@pytest.mark.parametrize(
    ("text", "skips"),
    [
        ("Nein, das braucht es nicht", True),
        ("super, dann keine Aufschrift", True),
        ("Nein, auf der Torte soll nichts stehen", True),
        ("nö, da muss nichts drauf stehen", True),
        ("no, we don't need anything on the cake", True),
        ("it doesn't need anything", True),
        ("Nein, bitte ohne Kerzen", False),
        ("no nuts please", False),
        ("Alles Gute Oma", False),
        ("Soll da nichts stehen?", False),
    ],
)
def test_a_long_refusal_leaves_an_optional_text_empty(text: str, skips: bool) -> None:
    declared = {"type": "string", "title": "Aufschrift", "x-ask": "Soll etwas auf der Torte stehen? Text on the cake?"}
    field = make_form({"text": declared}).leaves[0]

    assert skips_field(text, field) is skips


@pytest.mark.parametrize(
    ("text", "skips"),
    [
        ("nein keine mail", True),
        ("nee, keine E-Mail bitte", True),
        ("ohne mail bitte", True),
        ("no email please", True),
        ("no, no e-mail thanks", True),
        ("id rather not", True),
        ("i dont want to give one", True),
        ("dont have an email lol", True),
        ("i don't use email", True),
        ("let's leave that", True),
        ("none of your business", True),
        ("ich nutze keine mail", True),
        ("keine ahnung, lassen wir weg", True),
        ("lass das weg", True),
        ("I'd rather not give you my email", True),
        ("meine mailadresse geb ich nicht raus", True),
        ("my e-mail I don't share", True),
        ("die mail sag ich lieber nicht", True),
        ("that's not my email", False),
        ("das ist nicht meine mail", False),
        ("no, my email is not working today", False),
        ("ich gebe ihnen meine mail", False),
        ("no email?", False),
        ("nein", True),
        ("no receipt please", False),
        ("no need for an e-mail, I'll drop by", True),
        ("nein danke, Telefon reicht", True),
        ("nö, ich komm einfach rein", True),
        ("no, it's ann@example.org", False),
    ],
)
def test_somebody_may_keep_an_optional_address_to_themselves(text: str, skips: bool) -> None:
    declared = {"type": "string", "format": "email", "title": "E-Mail", "x-ask": "An welche Adresse? Which address?"}
    field = make_form({"mail": declared}).leaves[0]

    assert skips_field(text, field) is skips


@pytest.mark.parametrize(
    "text",
    ["meine nummer verrat ich nicht", "no number please", "nein, keine Handynummer", "nope, I won't give my phone out"],
)
def test_somebody_may_keep_an_optional_number_to_themselves(text: str) -> None:
    declared = {"type": "string", "format": "phone", "title": "Phone", "x-ask": "What is your number?"}

    assert skips_field(text, make_form({"phone": declared}).leaves[0])


def test_a_no_to_a_thing_is_no_refusal_of_a_yes_no_field() -> None:
    field = make_form({"receipt": {"type": "boolean", "title": "Receipt", "x-ask": "Do you need a receipt?"}}).leaves[0]

    assert not skips_field("no receipt please", field)


@pytest.mark.parametrize(
    ("text", "skips"),
    [
        ("not yet", True),
        ("I'll have to look it up first", True),
        ("will send it later", True),
        ("I haven't got one yet", True),
        ("can't remember the reference", True),
        ("hab ich noch nicht", True),
        ("die muss ich erst suchen", True),
        ("die Nummer reiche ich nach", True),
        ("habe ich leider nicht zur Hand", True),
        ("I want to look at prices", False),
        ("it's on the letter", False),
        ("ich suche ein Auto", False),
    ],
)
def test_somebody_may_not_have_an_optional_number_yet(text: str, skips: bool) -> None:
    declared = {"type": "string", "title": "Reference", "pattern": "[A-Z0-9]{7}", "x-labels": ["Nummer"]}

    assert skips_field(text, make_form({"reference": declared}).leaves[0]) is skips


@pytest.mark.parametrize(
    ("text", "is_unknown"),
    [
        ("I don't know my postcode", True),
        ("no idea, sorry", True),
        ("hard to say", True),
        ("not sure tbh", True),
        ("i'd have to look that up", True),
        ("I couldn't tell you", True),
        ("weiß ich nicht auswendig", True),
        ("die weiß ich nicht", True),
        ("da bin ich leider überfragt", True),
        ("muss ich erst nachschauen", True),
        ("schwer zu sagen", True),
        ("kommt drauf an", True),
        ("I don't know, maybe LS6 2AB", False),
        ("do you not know my postcode?", False),
        ("I don't know any good painters", False),
        ("the boiler does not say anything", False),
        ("Weißdornweg", False),
        ("kein Problem mit der Adresse", False),
    ],
)
def test_somebody_may_not_know_a_value(text: str, is_unknown: bool) -> None:
    field = make_form({"postcode": {"type": "string", "title": "Postcode", "x-kind": "postcode"}}).leaves[0]

    assert knows_no_value(text, field) is is_unknown


@pytest.mark.parametrize(
    "text", ["I don't know my postcode, we have just moved in", "weiß ich nicht auswendig, wir sind grad eingezogen"]
)
def test_who_does_not_know_a_value_may_say_why(text: str) -> None:
    field = make_form({"postcode": {"type": "string", "title": "Postcode", "x-kind": "postcode"}}).leaves[0]

    assert knows_no_value(text, field, may_add=True)
    assert not knows_no_value(text, field)


@pytest.mark.parametrize(
    ("text", "refers"),
    [
        ("same as before", True),
        ("the same school please", True),
        ("same as last time", True),
        ("wie beim letzten Mal", True),
        ("dieselbe wie immer", True),
        ("die gleiche Schule wie vorher", True),
        ("St Mary's", False),
        ("Same Day Deliveries", False),
        ("Immerbach", False),
    ],
)
def test_what_only_refers_back_is_no_text(text: str, refers: bool) -> None:
    field = make_form({"school": {"type": "string", "title": "School", "x-labels": ["Schule"]}}, "school").leaves[0]

    assert refers_back(text, field) is refers


@pytest.mark.parametrize(
    "text", ["puh das wird mir alles zu teuer, wir feiern doch drinnen", "phew, it's all too expensive, forget it"]
)
def test_a_sigh_before_a_wish_to_leave_changes_nothing(text: str) -> None:
    assert has_leaving_clause(text)


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("hold on, the boiler came back on by itself, so it's no longer needed, thank you", True),
        ("ah, my sister lent me hers. never mind, cheers", True),
        ("Moment, mein Bruder leiht mir seinen, damit hat sich das erledigt, vielen Dank", True),
        ("oh, die Heizung läuft wieder. Hat sich erledigt, danke schön", True),
        ("the cot is no longer needed, thanks", False),
        ("das Kinderbett ist nicht mehr nötig, danke", False),
        ("please don't forget it, thanks", False),
        ("ok, yes, thanks", False),
    ],
)
def test_thanks_behind_a_wish_to_leave_change_nothing(text: str, leaves: bool) -> None:
    assert has_leaving_clause(text) is leaves


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("no, forget the appointment, I feel better already", True),
        ("ok scrap the booking please, my wife does not like it", True),
        ("let's forget the whole order", True),
        ("don't forget the appointment", False),
        ("forget the booking for Friday", False),
        ("can you forget the booking?", False),
        ("hm nee, streichen Sie den Termin, ich frag erst meinen Mann", True),
        ("ach vergessen Sie die ganze Bestellung", True),
        ("vergessen Sie den Termin nicht", False),
        ("vergessen Sie bitte den Namen", False),
        ("nah scrap that one, I'll do it myself", True),
        ("leave that second one", True),
        ("drop that job", True),
        ("leave that at the door", False),
        ("das zweite lassen wir doch", True),
        ("nee, den zweiten Termin streichen wir", True),
        ("den Termin am Freitag lassen wir so", False),
    ],
)
def test_an_order_to_forget_what_the_form_is_for_stops_whatever_its_reason(text: str, stops: bool) -> None:
    assert orders_to_stop(text, "Book a visit") is stops


@pytest.mark.parametrize(
    "text",
    ["what's my number for?", "why on earth do you want my number", "is that really necessary?", "how come",
     "why tho?", "wofür ist die Nummer?", "wieso wollt ihr das wissen", "muss ich die angeben?",
     "was machen sie mit meiner Nummer"],
)  # fmt: skip
def test_somebody_asks_what_a_field_is_for(text: str) -> None:
    field = make_form({"phone": {"title": "Telefonnummer", "x-ask": "Your phone number?"}}, "phone").fields[0]

    assert asks_why(text, field)


@pytest.mark.parametrize(
    "text",
    ["why is a taxi so dear?", "0151 2223302", "what for dinner", "warum regnet es", "wozu gibt es den Kurs?", ""],
)
def test_other_questions_ask_something_else(text: str) -> None:
    field = make_form({"phone": {"title": "Telefonnummer", "x-ask": "Your phone number?"}}, "phone").fields[0]

    assert not asks_why(text, field)


@pytest.mark.parametrize("text", ["dont have one", "I haven't got one", "don't own one", "hab keine", "hab ich nicht"])
def test_lacking_something_skips_its_field_and_is_no_wish_to_stop(text: str) -> None:
    field = make_form({"phone": {"title": "Phone", "x-kind": "phone", "x-ask": "Your phone number?"}}).fields[0]

    assert skips_field(text, field)
    assert not drops_subject(text, "Join a class")


@pytest.mark.parametrize(
    ("text", "subject", "asks"),
    [
        ("and I'd like another massage for my wife", "Book a massage", True),
        ("can we book a second one for Tuesday", "Book a massage", True),
        ("I'll need one back as well", "Book a van", True),
        ("ich bräuchte dann noch einen Tisch für Samstag", "Tisch reservieren", True),
        ("wir brauchen auch eine für die Rückfahrt", "Bus bestellen", True),
        ("we need another seat so 3", "Book a massage", False),
        ("I need another day, Tuesday", "Book a massage", False),
        ("Another Massage House", "Book a massage", False),
        ("wir bräuchten noch einen Stuhl, also 5", "Tisch reservieren", False),
    ],
)
def test_a_sentence_asks_for_one_more_of_what_is_open(text: str, subject: str, asks: bool) -> None:
    assert asks_for_next(text, subject) is asks


@pytest.mark.parametrize(
    ("text", "puts_off"),
    [
        ("actually no leave that, the trees can wait", True),
        ("the hedge will have to wait", True),
        ("oh that can wait then", True),
        ("das kann warten", True),
        ("ach, die Bäume können erst mal warten", True),
        ("I can wait", False),
        ("we can wait", False),
        ("my husband can wait in the car", False),
        ("can it wait?", False),
        ("ich kann warten", False),
        ("der Hund kann draußen warten", False),
    ],
)
def test_what_can_wait_is_put_off(text: str, puts_off: bool) -> None:
    assert puts_off_subject(text) is puts_off


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("actually no, leave that", True),
        ("ok scrap that then", True),
        ("lass das lieber", True),
        ("nein, lassen wir das erstmal", True),
        ("leave that as it is", False),
        ("leave that parcel with the neighbour", False),
        ("lassen Sie das Paket beim Nachbarn", False),
    ],
)
def test_leave_that_is_a_wish_to_stop(text: str, leaves: bool) -> None:
    assert wants_to_leave(text) is leaves


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("never mind, can I talk to a person", "can I talk to a person"),
        ("we don't want the visit after all, the roof leaks. Who is in charge", "the roof leaks, Who is in charge"),
        ("vergessen Sie den Termin, ich möchte mit jemandem sprechen", "ich möchte mit jemandem sprechen"),
        ("forget it", ""),
        ("Friday is fine", "Friday is fine"),
    ],
)
def test_what_a_message_says_beside_leaving_is_kept(text: str, rest: str) -> None:
    assert drop_leaving_clauses(text, "Book a visit") == rest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("he bit two groomers before, id rather talk to someone about it first", True),
        ("das ist alles etwas verwickelt und lang, ich würde lieber mit jemandem sprechen", True),
        ("he bit someone, and the groomer was not happy about it at all", False),
        ("somebody will be at home, the bell does not work", False),
        ("just give me a human please", True),
        ("I want to complain to someone real", True),
        ("I don't want to talk to a machine", True),
        ("my manager is coming too", False),
        ("2, me and my agent", False),
        ("nen richtigen Menschen bitte", True),
        ("holen Sie mir bitte einen Mitarbeiter", True),
        ("ich möchte mich bei jemandem beschweren", True),
        ("mein Chef kommt auch mit", False),
    ],
)
def test_a_clause_of_a_longer_message_asks_for_a_person(text: str, expected: bool) -> None:
    assert asks_for_person(text) is expected


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("hold on a minute", True),
        ("ok, let me think", True),
        ("just a sec please", True),
        ("brb", True),
        ("Moment bitte, ich schau kurz nach", True),
        ("sekunde", True),
        ("komme gleich", True),
        ("lassen Sie mich kurz nachdenken", True),
        ("let me have the window seat", False),
        ("one", False),
        ("gleich nach dem Essen", False),
    ],
)
def test_a_wish_for_a_moment_is_no_value_and_leaves_nothing_empty(text: str, waits: bool) -> None:
    form = make_form({"name": {"type": "string"}, "phone": {"type": "string", "format": "phone"}})

    assert asks_to_wait(text) is waits
    assert not (waits and any(skips_field(text, field) or knows_no_value(text, field) for field in form.leaves))


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        ("no we're all good thanks", True),
        ("thats it cheers", True),
        ("nö, passt alles so", True),
        ("nix mehr, danke Ihnen", True),
        ("we're good with nuts but no fish", False),
        ("passt alles so, nur bitte leise", False),
    ],
)
def test_being_content_leaves_an_optional_text_empty(text: str, empty: bool) -> None:
    assert says_nothing(text) is empty


@pytest.mark.parametrize(
    ("text", "skips"),
    [
        ("what are access needs? no", True),
        ("like a ramp? none of us, no thanks", True),
        ("no access needs", True),
        ("nothing to declare lol", True),
        ("no allergies or anything", True),
        ("there are none", True),
        ("Was heißt das? Nein", True),
        ("keine weiteren Wünsche", True),
        ("keine Sonderwünsche danke", True),
        ("what are access needs?", False),
        ("what's that? a wheelchair", False),
        ("no nuts please", False),
        ("no seat at the back", False),
        ("kein Platz am Gang bitte", False),
    ],
)
def test_a_refusal_may_follow_a_question_or_name_what_is_asked(text: str, skips: bool) -> None:
    declared = {"type": "string", "title": "Access needs", "x-ask": "Do you have any access needs? Wünsche?"}
    field = make_form({"text": declared}).leaves[0]

    assert skips_field(text, field) is skips


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("and if one of us is ill can we get a refund", True),
        ("und wenn einer von uns krank wird was passiert dann", True),
        ("if possible can you come at 5", False),
        ("if it rains we stay at home", False),
    ],
)
def test_a_question_may_stand_behind_a_condition(text: str, asks: bool) -> None:
    assert bool(find_questions(text)) is asks


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        ("nah ur good", True), ("nuh that's it cheers", True), ("all good from me", True), ("thats the lot", True),
        ("nothing springs to mind", True), ("passt schon so", True), ("na des wars", True), ("von mir aus nix", True),
        ("sonst passt alles", True), ("all good but he bites", False), ("he's good with other dogs", False),
        ("das wars mit dem alten Zahn", False),
    ],
)  # fmt: skip
def test_a_last_question_is_turned_down_in_any_words(text: str, empty: bool) -> None:
    assert says_nothing(text) is empty


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("muss erst mit meinem chef reden", False), ("have to talk to my manager first", False),
        ("da muss ich erst mit der chefin sprechen", False), ("kann ich ihren chef sprechen", True),
        ("can I talk to your manager", True), ("can I speak to someone about my booking", True),
    ],
)  # fmt: skip
def test_who_talks_to_people_of_their_own_asks_for_nobody(text: str, asks: bool) -> None:
    assert asks_for_person(text, must_speak=True) is asks


@pytest.mark.parametrize(
    ("text", "drops"),
    [
        ("brauch den termin nimma", True), ("den Termin brauch i ned mehr", True), ("brauch ma nimmer", True),
        ("I won't be needing the appointment after all", True), ("wir brauchen den Termin am Montag", False),
    ],
)  # fmt: skip
def test_somebody_drops_the_subject_in_dialect(text: str, drops: bool) -> None:
    assert drops_subject(text, "Termin buchen") is drops


@pytest.mark.parametrize("part", ["7 ", "and ", "not ", "3 July "])
def test_a_long_message_leaves_no_field_empty_and_takes_no_time(part: str) -> None:
    field = make_form({"note": {"type": "string"}}).field("note")
    assert field
    started = time.thread_time()

    assert not skips_field(part * (4000 // len(part)), field)
    assert time.thread_time() - started < 1
