import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from convengine.server.deployment import environment


def test_a_postgresql_address_is_read_whole() -> None:
    database = environment.database("postgresql://me:p%40ss@db.example:5433/desk?sslmode=require", "x")

    assert (database["NAME"], database["USER"], database["PASSWORD"]) == ("desk", "me", "p@ss")
    assert (database["HOST"], database["PORT"], database["OPTIONS"]["sslmode"]) == ("db.example", "5433", "require")


def test_statements_are_prepared_unless_a_pooler_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = environment.database("postgresql://db.example/desk", "x")["OPTIONS"]
    monkeypatch.setenv("CE_DATABASE_PREPARE", "false")
    pooled = environment.database("postgresql://db.example/desk", "x")["OPTIONS"]

    assert (usual["server_side_binding"], usual["prepare_threshold"]) == (True, 5)
    assert pooled["prepare_threshold"] is None


def test_behind_a_pooler_nothing_is_prepared_and_an_address_with_options_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CE_DATABASE_POOLER", "transaction")

    assert environment.database("postgresql://db.example/desk", "x")["OPTIONS"]["prepare_threshold"] is None
    with pytest.raises(ImproperlyConfigured, match="ALTER ROLE"):
        environment.database("postgresql://db.example/desk?options=-c%20work_mem%3D8MB", "x")


def test_a_replica_is_a_database_of_its_own_that_is_given_up_soon() -> None:
    primary = environment.database("postgresql://db.example/desk", "x")
    values = environment.replica("postgresql://reader@db2.example/desk", primary)["replica"]

    assert (values["HOST"], values["USER"], values["TEST"]) == ("db2.example", "reader", {"MIRROR": "default"})
    assert (values["OPTIONS"]["pool"]["timeout"], primary["OPTIONS"]["pool"]["min_size"]) == (2, 1)
    assert environment.replica("", primary) == {}


def test_a_broker_may_be_named_by_its_sentinels_and_by_nothing_mixed() -> None:
    sentinels = "sentinel://10.0.0.1:26379;sentinel://10.0.0.2:26379"

    assert environment.bus("", sentinels) == sentinels
    with pytest.raises(ImproperlyConfigured, match="sentinel://"):
        environment.broker("sentinel://10.0.0.1:26379;redis://10.0.0.2:6379")


def test_a_replica_of_sqlite_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="CE_REPLICA_URL must begin with postgresql"):
        environment.replica("postgresql://db2.example/desk", environment.database("", "x"))


def test_a_socket_folder_can_be_the_host() -> None:
    assert environment.database("postgresql://postgres@/desk?host=/tmp/s", "x")["HOST"] == "/tmp/s"


def test_without_an_address_it_is_sqlite_with_immediate_transactions() -> None:
    database = environment.database("", "/data/ce.sqlite3")

    assert (database["NAME"], database["OPTIONS"]["transaction_mode"]) == ("/data/ce.sqlite3", "IMMEDIATE")
    assert "WAL" in database["OPTIONS"]["init_command"]


def test_another_database_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="postgresql:// or sqlite:///"):
        environment.database("mysql://x", "y")


def test_deployment_defaults_of_settings_are_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CE_CFG__Session__LEASE_SECONDS", "7")
    monkeypatch.setenv("SESSION_TIMEOUT_MINUTES", "45")

    defaults = environment.live_setting_defaults()

    assert defaults["SESSION", "LEASE_SECONDS"] == "7"
    assert defaults["SESSION", "TIMEOUT_MINUTES"] == "45"


@pytest.mark.parametrize(
    ("call", "value", "says"),
    [
        (lambda: environment.boolean("CE_X"), "maybe", "CE_X must be true or false"),
        (lambda: environment.integer("CE_X", 1, 1), "0", "CE_X must be a whole number of at least 1"),
        (lambda: environment.integer("CE_X", 1), "many", "CE_X must be a whole number"),
        (lambda: environment.integer("CE_X", 1), "²", "CE_X must be a whole number"),
        (lambda: environment.integer("CE_X", 1), "1" * 5000, "CE_X must be a whole number"),
        (lambda: environment.one_of("CE_X", "a", "a", "b"), "c", "CE_X must be one of a, b"),
        (lambda: environment.rate("CE_X"), "600", "CE_X must be a number of calls per time, such as 600/min"),
        (lambda: environment.contacts("CE_X"), "ada@example.com", "CE_X: 'ada@example.com' must be an address such as"),
        (lambda: environment.contacts("CE_X"), "https://a.example, http://b.example", "'http://b.example' must be"),
        (lambda: environment.time_zone("CE_X", "UTC"), "Europe/Berln", "Did you mean Europe/Berlin?"),
        (lambda: environment.time_zone("CE_X", "UTC"), "../etc", "CE_X: there is no time zone '../etc'"),
        (lambda: environment.document("CE_X"), "[]", "CE_X must be a JSON object"),
        (lambda: environment.document("CE_X"), "{", "CE_X must be a JSON object"),
    ],
)
def test_a_value_that_is_wrong_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, call: Any, value: str, says: str
) -> None:
    monkeypatch.setenv("CE_X", value)

    with pytest.raises(ImproperlyConfigured, match=says):
        call()


def models(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Any:
    for name in ("PROVIDER", "BASE_URL", "API_KEY", "MODEL", "ALLOWED_MODELS", "PRICES", "ANSWERS", "CONNECTIONS"):
        monkeypatch.delenv(f"CE_LLM_{name}", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return environment.models()


def test_two_variables_are_enough_for_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = models(monkeypatch, CE_LLM_BASE_URL="http://127.0.0.1:8080/v1", CE_LLM_MODEL="small")

    assert list(connections) == ["default"]
    assert (connections["default"]["base_url"], connections["default"]["models"]) == (
        "http://127.0.0.1:8080/v1",
        ["small"],
    )
    assert (connections["default"]["api_key"], connections["default"]["answers"]) == ("", "schema")


def test_a_key_and_a_model_are_the_service_that_the_protocol_is_named_after(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = models(monkeypatch, CE_LLM_API_KEY="k", CE_LLM_MODEL="a", CE_LLM_ALLOWED_MODELS="b, a")

    assert connections["openai"]["base_url"] == "https://api.openai.com/v1"
    assert connections["openai"]["models"] == ["a", "b"]


def test_without_variables_or_with_none_there_is_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert models(monkeypatch) == {}
    assert models(monkeypatch, CE_LLM_PROVIDER="none", CE_LLM_BASE_URL="http://x/v1", CE_LLM_MODEL="a") == {}
    assert models(monkeypatch, CE_LLM_PROVIDER="stub") == {"stub": {"provider": "stub"}}


def test_named_connections_take_their_keys_from_variables_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = '{"lab": {"base_url": "http://lab/v1", "models": ["big"], "api_key_env": "LAB_KEY"}}'
    connections = models(monkeypatch, CE_LLM_CONNECTIONS=lab, LAB_KEY="k")

    assert connections == {"lab": {"base_url": "http://lab/v1", "models": ["big"], "api_key": "k"}}


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"CE_LLM_BASE_URL": "http://x/v1"}, "CE_LLM_MODEL must name the model"),
        ({"CE_LLM_MODEL": "a"}, "CE_LLM_BASE_URL must be the address"),
        ({"CE_LLM_PROVIDER": "openai_compatible", "CE_LLM_MODEL": "a", "CE_LLM_API_KEY": "k"}, "CE_LLM_BASE_URL must"),
        ({"CE_LLM_PROVIDER": "other"}, "CE_LLM_PROVIDER must be one of auto, none"),
        ({"CE_LLM_CONNECTIONS": "[]"}, "CE_LLM_CONNECTIONS must be a JSON object"),
        ({"CE_LLM_CONNECTIONS": '{"lab": {"api_key_env": "NO_KEY"}}'}, "NO_KEY must be the key of the model conn"),
        ({"CE_LLM_BASE_URL": "http://x/v1", "CE_LLM_MODEL": "a", "CE_LLM_ANSWERS": "xml"}, "CE_LLM_ANSWERS must be"),
    ],
)
def test_an_impossible_description_of_a_model_names_the_variable(
    variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ImproperlyConfigured, match=message):
        models(monkeypatch, **variables)


def test_a_connection_takes_its_secret_from_the_variable_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDERS_TOKEN", "s3cret")
    monkeypatch.setenv(
        "CE_HTTP_CONNECTIONS", '{"orders": {"base_url": "https://o.example", "secret": "ORDERS_TOKEN"}, "open": {}}'
    )

    connections = environment.http_connections()

    assert connections["orders"]["secret_value"] == "s3cret"
    assert "secret_value" not in connections["open"]


@pytest.mark.parametrize(
    "declared", ['{"a": "https://x"}', '{"a": {"secret": "NOT_SET_AT_ALL"}}', '{"a": {"secret_value": "x"}}', "[1]"]
)
def test_a_connection_that_cannot_be_read_stops_the_start(monkeypatch: pytest.MonkeyPatch, declared: str) -> None:
    monkeypatch.setenv("CE_HTTP_CONNECTIONS", declared)

    with pytest.raises(ImproperlyConfigured, match="CE_HTTP_CONNECTIONS"):
        environment.http_connections()


def test_a_file_sets_variables_that_the_environment_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.environ", {"CE_A": "from outside"})
    file = tmp_path / ".env"
    file.write_text(
        "# a comment\n\nCE_A=from the file\nexport CE_B = 'two words'\nCE_C=plain # why\nCE_D={\"a\": 1}\nCE_E=\n"
        'CE_F="a # b" # of the "till"\n'
    )

    environment.load_file(file)
    environment.load_file(tmp_path / "missing")

    assert os.environ == {
        "CE_A": "from outside",
        "CE_B": "two words",
        "CE_C": "plain",
        "CE_D": '{"a": 1}',
        "CE_E": "",
        "CE_F": "a # b",
    }


def test_a_file_may_begin_with_the_mark_of_its_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {})
    (tmp_path / ".env").write_text("# a comment\nCE_A=1\n", "utf-8-sig")

    environment.load_file(tmp_path / ".env")

    assert os.environ == {"CE_A": "1"}


@pytest.mark.parametrize("read", [environment.broker, lambda url: environment.database(url, "x")])
@pytest.mark.parametrize("rest", [":pass/word@db/desk", ":pa[ssword@db/desk", "@db:port/desk"])
def test_an_address_that_cannot_be_read_is_refused_without_its_password(read: Any, rest: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="cannot be read") as refused:
        read(f"postgresql://ana{rest}")

    assert not re.search("pass|ssword", str(refused.value).replace("a password", ""))


def test_a_file_of_variables_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"CE_A=\xff\n")

    with pytest.raises(ImproperlyConfigured, match=r"\.env cannot be read"):
        environment.load_file(tmp_path / ".env")


def test_a_line_that_is_no_variable_is_refused_with_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {})
    (tmp_path / ".env").write_text("CE_A=1\nwhatever\n")

    with pytest.raises(ImproperlyConfigured, match=r"\.env, line 2: write NAME=value"):
        environment.load_file(tmp_path / ".env")


def test_an_unknown_variable_is_named_with_the_most_similar_one(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"CE_SECRT_KEY": "x", "CE_WHATEVER_IT_IS": "x", "CE_DEBUG": "1", "CE_CFG__A__B": "1", "CE_MCP_SECRET_X": ""}
    monkeypatch.setattr("os.environ", given)

    assert environment.describe_misspelt() == [
        "CE_SECRT_KEY is not a known variable. Did you mean CE_SECRET_KEY?",
        "CE_WHATEVER_IT_IS is not a known variable.",
    ]


def test_the_variable_of_a_secret_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = '{"shop": {"base_url": "https://shop.example", "secret": "CE_SHOP_TOKEN"}}'
    monkeypatch.setattr("os.environ", {"CE_HTTP_CONNECTIONS": connections, "CE_SHOP_TOKEN": "x"})

    assert environment.http_connections()["shop"]["secret_value"] == "x"
    assert environment.describe_misspelt() == []


def test_every_variable_that_is_read_is_known() -> None:
    root = Path(environment.__file__).parents[3]
    sources = [root / "convengine/settings.py", root / "convengine/server/deployment/environment.py"]
    read = {name for file in sources for name in re.findall(r'\("(CE_[A-Z_]+)"', file.read_text())}

    assert read - environment._KNOWN - {"CE_MCP_SECRET_", "CE_CHANNEL_SECRET_", "CE_CFG__"} == set()
