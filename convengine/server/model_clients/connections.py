"""The deployment's models and their services."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from convengine.engine.text.wording import join_names
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.understanding.onnx_encoder import TOKENIZER, list_models
from convengine.json_value import Json
from convengine.server.outgoing.addresses import is_listed, is_plainly_private

#: The answers of a service that only gives vectors of texts.
VECTORS = "vectors"
#: How to get JSON answers: by a schema, by the service's mode for any object, or by the prompt alone.
ANSWERS = ("schema", "object", "text", VECTORS)
#: The provider without a service: it answers with the prompt.
ECHO = "stub"
#: The provider of vectors without a service: a file of the deployment.
ONNX = "onnx"
PROVIDERS = ("openai", "openai_compatible", ONNX, ECHO)
_KEYS = (
    *("provider", "base_url", "api_key", "models", "prices", "answers", "temperature", "proxy", "headers", "body"),
    *("fallback", "circuit_failures", "circuit_seconds", "private_hosts", "folder"),
)


class ModelConnectionInvalid(ValueError):
    """An invalid connection; the message has field, value and remedy."""


class ModelUnknown(ValueError):
    """A model that the deployment does not allow."""


@dataclass(frozen=True)
class Price:
    """The price of a million tokens, in and out."""

    input: float
    output: float


@dataclass(frozen=True)
class ModelConnection:
    """One service that speaks the OpenAI protocol."""

    name: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    #: The allowed models; the first is the default.
    models: tuple[str, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)
    answers: str = "schema"
    #: False for models that do not accept a temperature.
    temperature: bool = True
    #: The proxy in front of the service; blank for none.
    proxy: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: More fields of the request's body, such as max_tokens.
    body: Mapping[str, Json] = field(default_factory=dict)
    provider: str = "openai_compatible"
    #: The model that answers when this service fails, as `connection:model`; blank for none.
    fallback: str = ""
    #: After this many failed attempts in a row, the service is not called for this many seconds. 0: always called.
    circuit_failures: int = 5
    circuit_seconds: int = 30
    #: Hosts that may have loopback, link-local or private addresses: `host`, `host:port`, `*.domain`.
    private_hosts: frozenset[str] = frozenset()
    #: Where the encoder of the provider ONNX is.
    folder: str = ""

    def may_be_private(self, host: str, port: int) -> bool:
        """True when the deployment allows this host a private address, or wrote one."""
        return is_plainly_private(host) or is_listed(host, port, self.private_hosts)

    def cost(self, model: str, answer: LlmAnswer) -> float | None:
        """The cost of an answer; None without a price or a token count."""
        price = self.prices.get(model)
        if price is None or (answer.input_tokens is None and answer.output_tokens is None):
            return None
        tokens = (answer.input_tokens or 0) * price.input + (answer.output_tokens or 0) * price.output
        return round(tokens / 1_000_000, 9)


@dataclass(frozen=True)
class Connections:
    """All connections of a deployment, in order."""

    all: tuple[ModelConnection, ...] = ()

    @property
    def answering(self) -> tuple[ModelConnection, ...]:
        """Those whose models answer prompts."""
        return tuple(connection for connection in self.all if connection.answers != VECTORS)

    @property
    def names(self) -> frozenset[str]:
        """The allowed values of `LLM/MODEL`: a model, or `connection:model`."""
        return _list_names(self.answering)

    @property
    def all_names(self) -> frozenset[str]:
        """The allowed values of `Phrases/EMBEDDING_MODEL`: many services answer prompts and give vectors."""
        return _list_names(self.all)

    def find_folder(self, name: str) -> str:
        """Where the encoder of a name is; blank for a model of a service."""
        own = (connection for connection in self.all if name in _list_names([connection]))
        return next((connection.folder for connection in own), "")

    def find(self, name: str, setting: str = "LLM/MODEL") -> tuple[ModelConnection, str]:
        """The connection and the model of a name; blank is the first that answers prompts. Raises ModelUnknown."""
        for connection in self.all if name else self.answering:
            for model in connection.models:
                if name in ("", model, f"{connection.name}:{model}"):
                    return connection, model
        allowed = join_names(self.all_names)
        raise ModelUnknown(f"{setting} is {name!r}, which this deployment does not allow. Allowed: {allowed}.")


def _list_names(connections: Sequence[ModelConnection]) -> frozenset[str]:
    pairs = [(connection.name, model) for connection in connections for model in connection.models]
    return frozenset({model for _, model in pairs} | {f"{name}:{model}" for name, model in pairs})


def read_connections(declared: Mapping[str, Mapping[str, Json]]) -> Connections:
    """The connections of `settings.CONVENGINE["MODELS"]`. Raises ConnectionInvalid."""
    connections = Connections(tuple(_connection(name, value) for name, value in declared.items()))
    for connection in connections.all:
        if connection.fallback and connection.fallback not in connections.names:
            allowed = join_names(connections.names)
            raise _invalid(connection.name, "fallback", connection.fallback, f"a model of a connection: {allowed}")
    return connections


def _connection(name: str, value: Json) -> ModelConnection:
    if not isinstance(value, Mapping):
        raise _invalid(name, "", value, "an object with base_url and models")
    if unknown := sorted(value.keys() - set(_KEYS)):
        raise _invalid(name, unknown[0], value[unknown[0]], f"left out; known are {', '.join(_KEYS)}")
    if (provider := value.get("provider", "openai_compatible")) not in PROVIDERS:
        raise _invalid(name, "provider", provider, f"one of {', '.join(PROVIDERS)}")
    if provider == ECHO:
        return ModelConnection(name, models=(ECHO,), provider=ECHO)
    if provider == ONNX:
        models, folder = _models(name, value.get("models")), _folder(name, value.get("folder"))
        return ModelConnection(name, models=models, answers=VECTORS, provider=ONNX, folder=folder)
    made = ModelConnection(
        name,
        _url(name, "base_url", value.get("base_url")),
        str(value.get("api_key") or ""),
        _models(name, value.get("models")),
        {model: _price(name, model, price) for model, price in _object(name, "prices", value).items()},
        str(value.get("answers", "schema")),
        value.get("temperature", True) is not False,
        _url(name, "proxy", value["proxy"]) if value.get("proxy") else "",
        {key: str(text) for key, text in _object(name, "headers", value).items()},
        _object(name, "body", value),
        fallback=str(value.get("fallback") or ""),
        circuit_failures=_count(name, "circuit_failures", value, 5),
        circuit_seconds=_count(name, "circuit_seconds", value, 30),
        private_hosts=_hosts(name, value.get("private_hosts", [])),
    )
    if made.answers not in ANSWERS:
        raise _invalid(name, "answers", made.answers, f"one of {', '.join(ANSWERS)}")
    return made


def _url(name: str, key: str, url: Json) -> str:
    if isinstance(url, str) and _is_web_address(url):
        return url
    raise _invalid(name, key, url, "an address such as https://models.example.com/v1")


def _folder(name: str, folder: Json) -> str:
    if isinstance(folder, str) and len(list_models(Path(folder))) == 1:
        return folder
    raise _invalid(name, "folder", folder, f"a folder with one .onnx file and {TOKENIZER}")


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _models(name: str, models: Json) -> tuple[str, ...]:
    names = [models] if isinstance(models, str) else models
    if not isinstance(names, Sequence) or not names or not all(isinstance(model, str) and model for model in names):
        raise _invalid(name, "models", models, 'a list of names such as ["gpt-5-mini"]')
    return tuple(dict.fromkeys(names))


def _hosts(name: str, hosts: Json) -> frozenset[str]:
    if not isinstance(hosts, list) or not all(isinstance(host, str) and host for host in hosts):
        raise _invalid(name, "private_hosts", hosts, 'a list of hosts such as ["models.internal", "10.0.0.7:8000"]')
    return frozenset(host.lower() for host in hosts)


def _price(name: str, model: str, price: Json) -> Price:
    is_pair = isinstance(price, Sequence) and len(price) == 2
    # `bool` is a number of Python.
    if not is_pair or not all(type(each) in (int, float) and 0 <= each < 1_000_000 for each in price):
        raise _invalid(name, f"prices.{model}", price, "two amounts, for a million tokens in and out: [0.15, 0.6]")
    return Price(float(price[0]), float(price[1]))


def _count(name: str, key: str, value: Mapping[str, Json], default: int) -> int:
    number = value.get(key, default)
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise _invalid(name, key, number, "a whole number of at least 0")
    return number


def _object(name: str, key: str, value: Mapping[str, Json]) -> Mapping[str, Json]:
    entry = value.get(key, {})
    if not isinstance(entry, Mapping):
        raise _invalid(name, key, entry, "an object")
    return entry


def _invalid(name: str, key: str, value: Json, wanted: str) -> ModelConnectionInvalid:
    # A misplaced value may be a secret, so a long one is not shown.
    shown = repr(value) if len(repr(value)) <= 60 else f"a {type(value).__name__}"
    return ModelConnectionInvalid(
        f"The model connection {name!r} has {key or 'the value'} = {shown}; it must be {wanted}."
    )
