"""Names of fields come from their titles."""

from config_admin.flows.forms import make_name, name_apart


def test_fields_in_any_letters_keep_names_of_their_own() -> None:
    titles = ("Größe", "имя", "адрес", "size", "size", "clock")
    fields = [{"name": "", "title": title} for title in titles]
    assert [field["name"] for field in name_apart(fields)] == ["grosse", "value", "value2", "size", "size2", "clock2"]


def test_existing_names_stay_and_new_ones_avoid_them() -> None:
    fields = [{"name": "", "title": "Day"}, {"name": "day", "title": "Another title"}]
    assert [field["name"] for field in name_apart(fields)] == ["day2", "day"]
    assert make_name("number of guests") == "numberOfGuests"
