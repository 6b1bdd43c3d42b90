"""The page of all settings: what is in force, from where, and changing it in place."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.editing.links import settings_url
from config_admin.editing.setting_fields import to_choice, value_field
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from config_admin.validation import settings as validation_settings
from convengine.engine.turn import live_settings as settings
from convengine.engine.turn.live_settings import CATALOGUE, Setting
from convengine.server import settings_catalogue
from tests.cases import for_each
from tests.config_admin.admin.pages import address, newest, read_message, sent_by
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
MAX_PASSES = CATALOGUE["RULESSTEP", "MAX_PASSES"]
THRESHOLD = CATALOGUE["DIALOGUEACTSTEP", "LLM_THRESHOLD"]
RESUME_MODE = CATALOGUE["SESSION", "RESUME_MODE"]


def row(setting: Setting[Any], value: str, qualifier: str = "", **values: Any) -> m.CeConfig:
    key = f"{setting.key}.{qualifier}" if qualifier else setting.key
    with change_set(Origin.ADMIN, "ben"):
        stored: m.CeConfig = make(m.CeConfig, config_type=setting.type, config_key=key, config_value=value, **values)
    return stored


def page(client: Client, query: str = "") -> str:
    return client.get(f"{settings_url()}{query}").content.decode()


def part(text: str, setting: Setting[Any]) -> str:
    """What the page says of one setting, without tags."""
    article = text.split(f'id="{setting.name.replace("/", "-")}"')[1].split("</article>")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", article))


def edit(client: Client, name: str, **values: Any) -> Any:
    url = f"{settings_url()}?edit={name}"
    form = client.get(url).context["form"]
    return client.post(url, sent_by(form, **values))


@for_each("setting", CATALOGUE.values())
def test_every_setting_stands_in_a_family_with_a_title(setting: Setting[Any]) -> None:
    assert setting.type in settings_catalogue.TITLES


def test_every_setting_is_shown_with_meaning_default_and_source(ada: Client) -> None:
    text = page(ada)

    for setting in CATALOGUE.values():
        assert "Built-in default." in part(text, setting) or "Set by row" in part(text, setting), setting.name
    assert MAX_PASSES.help in part(text, MAX_PASSES)


def test_a_row_is_told_with_who_made_it_and_what_it_replaces(ada: Client) -> None:
    stored = row(MAX_PASSES, "9")

    text = part(page(ada), MAX_PASSES)

    assert f"9 Set by row {stored.pk} , by ben" in text
    assert "Default: 5." in text


def test_the_deployments_own_default_is_told_with_its_variable(ada: Client, settings: Any) -> None:
    settings.CONVENGINE = {**django_settings.CONVENGINE, "SETTING_DEFAULTS": {("RULESSTEP", "MAX_PASSES"): "7"}}

    assert "7 Set by the deployment ( CE_CFG__RULESSTEP__MAX_PASSES )." in part(page(ada), MAX_PASSES)


def test_a_text_that_cannot_be_read_is_told_and_the_default_shown(ada: Client) -> None:
    row(MAX_PASSES, "many")

    text = part(page(ada), MAX_PASSES)

    assert "The stored value must be a whole number from 1 to 20. The default is used instead." in text
    assert " 5 Set by row" in text


def test_a_row_that_is_off_is_told_beside_what_holds_instead(ada: Client) -> None:
    row(MAX_PASSES, "9", enabled=False)

    assert "has another value, but is disabled" in part(page(ada), MAX_PASSES)


def test_values_for_single_channels_stand_below(ada: Client) -> None:
    row(RESUME_MODE, "offer_resume", "whatsapp")

    assert "whatsapp : offer_resume" in part(page(ada), RESUME_MODE)


def test_rows_that_nothing_reads_are_listed(ada: Client) -> None:
    make(m.CeConfig, config_type="RulesStep", config_key="MAX_PASES", config_value="3")

    text = page(ada)

    assert "Unknown settings" in text
    assert "RulesStep / MAX_PASES" in text


def test_a_search_finds_names_meanings_and_values(ada: Client) -> None:
    row(MAX_PASSES, "17")

    for query in ("max_passes", "rulesstep passes", "17"):
        assert 'id="RulesStep-MAX_PASSES"' in page(ada, f"?q={query}")
    assert "No setting matches this search." in page(ada, "?q=nothing+of+the+kind")


def test_what_is_the_built_in_default_can_be_left_out(ada: Client) -> None:
    row(MAX_PASSES, "9")

    text = page(ada, "?changed=1")

    assert 'id="RulesStep-MAX_PASSES"' in text
    assert 'id="DialogueActStep-LLM_THRESHOLD"' not in text


@pytest.mark.parametrize(
    ("setting", "input_type"),
    [
        (MAX_PASSES, 'type="number"'),
        (THRESHOLD, 'step="any"'),
        (CATALOGUE["DIALOGUEACTSTEP", "RESOLUTE"], '<option value="REGEX_ONLY"'),
        (CATALOGUE["DIALOGUEACTSTEP", "QUERY_REWRITE_ENABLED"], '<option value="true"'),
        (CATALOGUE["INTERACTIONPOLICYSTEP", "MATRIX"], "<textarea"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_input_fits_the_type(setting: Setting[Any], input_type: str) -> None:
    field = value_field(setting)

    assert input_type in field.widget.render("config_value", "")


def test_bounds_are_those_of_the_setting() -> None:
    widget = value_field(MAX_PASSES).widget

    assert (widget.attrs["min"], widget.attrs["max"]) == (1, 20)


def test_a_stored_word_is_shown_as_the_choice_it_means() -> None:
    switch = CATALOGUE["DIALOGUEACTSTEP", "QUERY_REWRITE_ENABLED"]

    assert [to_choice(switch, word) for word in ("yes", "OFF", "perhaps")] == ["true", "false", "perhaps"]
    assert to_choice(CATALOGUE["DIALOGUEACTSTEP", "RESOLUTE"], "regex_only") == "REGEX_ONLY"


def test_a_value_given_in_place_is_a_row_and_a_release_with_its_reason(ben: Client) -> None:
    response = edit(ben, "DialogueActStep/LLM_THRESHOLD", config_value="0.8", reason="Ask less")

    assert response["Location"] == settings_url(THRESHOLD)
    assert "“Ask the model below this confidence” is now 0.8." in read_message(response, ben)
    assert (newest().author, newest().reason, newest().origin) == ("ben", "Ask less", "ADMIN")
    assert settings.read(snapshots.current(), THRESHOLD).value == 0.8


def test_a_row_is_changed_in_place_and_no_second_one_made(ben: Client) -> None:
    stored = row(THRESHOLD, "0.7", enabled=False)

    edit(ben, "DialogueActStep/LLM_THRESHOLD", config_value="0.6")

    stored.refresh_from_db()
    assert (stored.config_value, stored.enabled) == ("0.6", True)
    assert m.CeConfig.objects.filter(config_key="LLM_THRESHOLD").count() == 1


def test_a_value_for_one_channel_is_changed_in_place(ben: Client) -> None:
    stored = row(RESUME_MODE, "offer_resume", "whatsapp")

    edit(ben, "Session/RESUME_MODE.whatsapp", config_value="new_session")

    stored.refresh_from_db()
    assert stored.config_value == "new_session"


def test_a_value_out_of_bounds_is_told_at_the_field_and_not_stored(ada: Client) -> None:
    response = edit(ada, "RulesStep/MAX_PASSES", config_value="99")

    assert "“Maximum passes of a phase” must be a whole number from 1 to 20." in response.content.decode()
    assert not m.CeConfig.objects.filter(config_key="MAX_PASSES").exists()


def test_a_warning_holds_the_value_once(ada: Client) -> None:
    name = "ResetResolvedIntentStep/RESET_INTENT_CODES"
    make(m.CeConfig, config_type=name.split("/")[0], config_key=name.split("/")[1], config_value="")
    held = edit(ada, name, config_value="NO_SUCH")

    assert "The intent NO_SUCH" in held.content.decode()
    sent = sent_by(held.context["form"], _confirm="1")
    assert ada.post(f"{settings_url()}?edit={name}", sent).status_code == 302


def test_somebody_elses_change_is_not_overwritten(ada: Client) -> None:
    stored = row(MAX_PASSES, "9")
    url = f"{settings_url()}?edit={MAX_PASSES.name}"
    sent = sent_by(ada.get(url).context["form"], config_value="10")
    m.CeConfig.objects.filter(pk=stored.pk).update(config_value="11")

    response = ada.post(url, sent)

    assert "changed this row (" in response.content.decode()
    stored.refresh_from_db()
    assert stored.config_value == "11"


def test_reserved_settings_are_changed_by_administrators_only(ada: Client, ben: Client) -> None:
    url = f"{settings_url()}?edit={MAX_PASSES.name}"

    assert ">Change<" not in page(ben).split('id="RulesStep-MAX_PASSES"')[1].split("</article>")[0]
    assert ">Change<" in page(ada).split('id="RulesStep-MAX_PASSES"')[1].split("</article>")[0]
    assert (ben.get(url).status_code, ben.post(url, {"config_value": "9"}).status_code) == (403, 403)


def test_readers_change_nothing(somebody: Callable[..., Client]) -> None:
    quinn = somebody("quinn", "qa")

    assert ">Change<" not in page(quinn)
    assert quinn.get(f"{settings_url()}?edit={THRESHOLD.name}").status_code == 403
    assert somebody("olga", "operator").get(settings_url()).status_code == 403


def test_a_setting_that_is_none_is_not_found(ada: Client) -> None:
    assert ada.get(f"{settings_url()}?edit=RulesStep/NOTHING").status_code == 404


def test_going_back_to_the_default_leads_here_again(ada: Client) -> None:
    stored = row(MAX_PASSES, "9")

    response = ada.post(address(m.CeConfig, "delete", stored.pk), {"post": "yes", "reason": "Because"})

    assert response["Location"] == settings_url()
    assert "Built-in default." in part(page(ada), MAX_PASSES)


def test_values_are_spelt_as_a_row_would() -> None:
    for setting in CATALOGUE.values():
        text = validation_settings.format_value(setting.kind, setting.default)
        # Entries of lists are trimmed when they are read; one default ends in a blank.
        default = tuple(map(str.strip, setting.default)) if isinstance(setting.default, tuple) else setting.default
        assert text == "" or setting.kind.read(text) == default, setting.name


def test_the_page_costs_the_same_with_a_thousand_rows(ada: Client) -> None:
    def queries() -> int:
        page(ada)
        with CaptureQueriesContext(connection) as captured:
            page(ada)
        return len(captured)

    few = queries()
    with change_set():
        m.CeConfig.objects.bulk_create(
            [
                m.CeConfig(config_type="Session", config_key=f"RESUME_MODE.c{number}", config_value="new_session")
                for number in range(1000)
            ]
        )

    assert queries() == few
    assert few <= 8
