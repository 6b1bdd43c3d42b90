"""The Helm chart of `deploy/helm`, rendered by `tests.helm`; where Helm is installed, it must give the same."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.urls import resolve
from jsonschema import Draft7Validator

from convengine.commands.management.commands.serve import Command
from convengine.server.deployment import environment
from tests.helm import Chart, NotRendered
from tests.test_deploy import ROOT, find_tool

CHART = Chart(ROOT / "deploy/helm/convengine")
SCHEMA = json.loads((CHART.folder / "values.schema.json").read_text())
IMAGE: Any = {"repository": "registry.example.com/bot", "tag": "1.4.0"}
#: Values that use everything.
FULL: dict[str, Any] = {
    "image": IMAGE,
    "imagePullSecrets": ["registry"],
    "filesPath": "/srv/var",
    "runAsUser": 1000,
    "existingSecret": "bot-variables",
    "env": {"CE_TRUSTED_PROXIES": "1", "CE_ALLOWED_HOSTS": "desk.example.com"},
    "replicas": 2,
    "extraArgs": ["--no-jobs"],
    "resources": {"requests": {"cpu": "500m"}},
    "ingress": {"enabled": True, "host": "desk.example.com", "tlsSecret": "desk-tls"},
    "networkPolicy": {
        "enabled": True,
        "from": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}],
        "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 5432}]}],
    },
    "podAnnotations": {"prometheus.io/scrape": "true"},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "bots", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone"}],
}
LEAST: dict[str, Any] = {"image": IMAGE, "migrate": {"enabled": False}, "disruption": {"enabled": False}}


def render(**values: Any) -> dict[str, Any]:
    """The objects by kind and name."""
    return {f"{each['kind']} {each['metadata']['name']}": each for each in CHART.render(**{"image": IMAGE, **values})}


def get_pod(rendered: dict[str, Any], name: str = "Deployment convengine") -> Any:
    """The description of a pod, and its container."""
    pod = rendered[name]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    return pod, container


def test_it_makes_the_servers_of_the_kubernetes_file() -> None:
    deployment, service = yaml.safe_load_all((ROOT / "deploy/kubernetes/convengine.yaml").read_text())
    rendered = render()
    made, container = rendered["Deployment convengine"], get_pod(rendered)[1]
    pod = deployment["spec"]["template"]["spec"]
    (expected,) = pod["containers"]
    own = {"image", "imagePullPolicy", "env"}

    assert {name: value for name, value in container.items() if name not in own} == {
        name: value for name, value in expected.items() if name not in own
    }
    assert {**get_pod(rendered)[0], "containers": []} == {**pod, "containers": []}
    for name in ("replicas", "strategy"):
        assert made["spec"][name] == deployment["spec"][name]
    assert rendered["Service convengine"]["spec"]["ports"] == service["spec"]["ports"]


@pytest.mark.parametrize("values", [{}, FULL, LEAST], ids=["defaults", "full", "least"])
def test_whatever_selects_pods_selects_those_of_the_servers_alone(values: dict[str, Any]) -> None:
    rendered = render(**values)
    labels = rendered["Deployment convengine"]["spec"]["template"]["metadata"]["labels"].items()
    selectors = [
        rendered["Deployment convengine"]["spec"]["selector"]["matchLabels"],
        rendered["Service convengine"]["spec"]["selector"],
    ]
    if budget := rendered.get("PodDisruptionBudget convengine"):
        selectors.append(budget["spec"]["selector"]["matchLabels"])
    if policy := rendered.get("NetworkPolicy convengine"):
        selectors.append(policy["spec"]["podSelector"]["matchLabels"])

    assert all(selector and selector.items() <= labels for selector in selectors)
    if job := rendered.get("Job convengine-migrate"):
        others = job["spec"]["template"]["metadata"]["labels"].items()
        assert not any(selector.items() <= others for selector in selectors)


def test_migrations_run_before_new_pods_start_with_what_the_servers_have() -> None:
    rendered = render(**FULL)
    (pod, servers), (migrating, job) = get_pod(rendered), get_pod(rendered, "Job convengine-migrate")
    shared = ("image", "imagePullPolicy", "command", "envFrom", "env", "securityContext", "volumeMounts", "resources")

    assert rendered["Job convengine-migrate"]["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert [*job["command"], *job["args"]] == ["convengine", "manage", "migrate"]
    assert {name: job[name] for name in shared} == {name: servers[name] for name in shared}
    for name in ("volumes", "imagePullSecrets", "nodeSelector", "tolerations", "affinity"):
        assert migrating[name] == pod[name]
    assert migrating["restartPolicy"] == "Never"


def test_streams_have_a_path_of_their_own_without_a_buffer() -> None:
    rendered = render(**FULL)
    pages, streams = rendered["Ingress convengine"], rendered["Ingress convengine-streams"]
    seconds = "nginx.ingress.kubernetes.io/proxy-read-timeout"

    def read(ingress: Any) -> tuple[str, str, str, Any]:
        (rule,) = ingress["spec"]["rules"]
        (path,) = rule["http"]["paths"]
        return rule["host"], path["path"], path["backend"]["service"]["port"]["name"], ingress["spec"]["tls"]

    tls = [{"hosts": ["desk.example.com"], "secretName": "desk-tls"}]
    assert read(pages) == ("desk.example.com", "/", "http", tls)
    assert read(streams) == ("desk.example.com", "/api/v1/conversation/stream/", "streams", tls)
    assert resolve("/api/v1/conversation/stream/0b7b8c9a-5f0e-4a57-9d2a-0c6f6b1f5a10")
    assert streams["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-buffering"] == "off"
    assert int(streams["metadata"]["annotations"][seconds]) > settings.CONVENGINE["STREAM_SECONDS"]
    assert int(pages["metadata"]["annotations"][seconds]) > settings.CONVENGINE["TURN_TIMEOUT_SECONDS"]


@pytest.mark.parametrize("name", ["Deployment convengine", "Job convengine-migrate"])
def test_containers_may_make_the_usual_system_calls_alone(name: str) -> None:
    context = get_pod(render(), name)[1]["securityContext"]

    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert (context["runAsNonRoot"], context["readOnlyRootFilesystem"]) == (True, True)


@pytest.mark.parametrize(
    "values",
    [{}, {"from": [{"podSelector": {}}]}, {"egress": [{"ports": [{"port": 5432}]}]}, FULL["networkPolicy"]],
    ids=["all", "from", "egress", "both"],
)
def test_a_network_policy_lets_in_only_whom_the_values_name(values: dict[str, Any]) -> None:
    rendered = render(networkPolicy={**values, "enabled": True})
    spec, ports = rendered["NetworkPolicy convengine"]["spec"], rendered["Service convengine"]["spec"]["ports"]
    (rule,) = spec["ingress"]

    assert {port["port"] for port in rule["ports"]} == {port["name"] for port in ports}
    # Kubernetes reads a missing or empty list as everybody.
    assert rule.get("from", []) == values.get("from", [])
    assert spec.get("egress", []) == values.get("egress", [])
    assert spec["policyTypes"] == ["Ingress", *(["Egress"] if "egress" in values else [])]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"image": {"tag": ""}}, "Set image.tag"),
        ({"image": {"tag": None}}, "Set image.tag"),
        ({"ingress": {"enabled": True}}, "Set ingress.host"),
    ],
)
def test_what_has_no_default_is_asked_for(values: dict[str, Any], message: str) -> None:
    with pytest.raises(NotRendered, match=message):
        render(**values)


def test_parts_can_be_left_out() -> None:
    assert render(**LEAST).keys() == {"Deployment convengine", "Service convengine"}


def test_secrets_are_named_and_no_value_holds_one() -> None:
    pod = get_pod(render(**FULL))[1]

    assert pod["envFrom"] == [{"secretRef": {"name": "bot-variables"}}]
    assert not re.search(
        r"(?i)password|secret_key", (CHART.folder / "values.yaml").read_text().replace("CE_SECRET_KEY", "")
    )


@pytest.mark.parametrize("values", [{}, FULL, LEAST], ids=["defaults", "full", "least"])
def test_the_schema_takes_the_values(values: dict[str, Any]) -> None:
    assert list(Draft7Validator(SCHEMA).iter_errors(values)) == []


@pytest.mark.parametrize(
    "values",
    [
        {"ingres": {"enabled": True}},
        {"ingress": {"hosts": ["desk.example.com"]}},
        {"env": {"CE_TRUSTED_PROXIES": 1}},
        {"image": {"tag": 1.4}},
        {"replicas": "3"},
        {"existingSecret": ""},
        {"networkPolicy": {"enabled": "yes"}},
        {"networkPolicy": {"ingress": []}},
    ],
)
def test_the_schema_refuses_misspelt_and_wrong_values(values: dict[str, Any]) -> None:
    assert list(Draft7Validator(SCHEMA).iter_errors(values))


def test_every_value_is_in_the_schema_has_a_comment_and_is_used() -> None:
    text = (CHART.folder / "values.yaml").read_text()
    templates = "".join(file.read_text() for file in (CHART.folder / "templates").iterdir())

    def list_paths(values: dict[str, Any], declared: Any, above: str = "") -> list[str]:
        assert values.keys() <= declared["properties"].keys()
        return [
            path
            for name, value in values.items()
            for path in (
                list_paths(value, declared["properties"][name], f"{above}{name}.")
                if "properties" in declared["properties"][name]
                else [f"{above}{name}"]
            )
        ]

    paths = list_paths(yaml.safe_load(text), SCHEMA)
    assert [path for path in paths if f".Values.{path}" not in templates] == []
    assert set(re.findall(r"\.Values\.([\w.]+)", templates)) == set(paths)


def test_the_options_of_its_commands_exist_and_pods_wait_longer_than_turns_last() -> None:
    known = {
        option for action in Command().create_parser("convengine", "serve")._actions for option in action.option_strings
    }
    pod, container = get_pod(render(**FULL))

    assert {word for word in container["args"] if word.startswith("--")} <= known
    assert pod["terminationGracePeriodSeconds"] > settings.CONVENGINE["STOP_SECONDS"] + 10
    assert {entry["name"] for entry in container["env"]} <= environment._KNOWN


@pytest.mark.parametrize("values", [{}, FULL, LEAST], ids=["defaults", "full", "least"])
def test_helm_makes_the_same(values: dict[str, Any], tmp_path: Path) -> None:
    helm, file = find_tool("helm"), tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump({"image": IMAGE, **values}))
    command = [helm, "template", CHART.release, str(CHART.folder), "--values", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert {f"{each['kind']} {each['metadata']['name']}": each for each in yaml.safe_load_all(done.stdout)} == render(
        **values
    )
