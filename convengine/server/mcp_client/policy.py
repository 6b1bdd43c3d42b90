"""What a deployment allows `ce_mcp_server` rows: commands to start, hosts to call, secrets to use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from convengine.engine.text.compare import code
from convengine.engine.text.wording import join_names
from convengine.engine.turn.rows import McpServer
from convengine.json_value import Json
from convengine.server.outgoing.addresses import is_listed, is_plainly_private

_SECRET = re.compile(r"\$\{([A-Za-z0-9_]+)\}")
#: Variables that would make an allowed command load other code.
_LOADS_CODE = re.compile(
    r"PATH|LD_.*|DYLD_.*|PYTHON(?:PATH|HOME|STARTUP|BREAKPOINT|INSPECT|USERBASE|EXECUTABLE)|NODE_(?:OPTIONS|PATH)"
    r"|NPM_CONFIG_.*|(?:UV|PIP)_.*|PERL5(?:LIB|OPT|DB)|RUBY(?:LIB|OPT)|(?:_|JDK_)?JAVA_(?:TOOL_)?OPTIONS|CLASSPATH"
    r"|BASH_ENV|ENV|GCONV_PATH|GIT_(?:SSH|EXEC|CONFIG|EXTERNAL|TEMPLATE|PROXY).*"
)


class NotAllowed(Exception):
    """The deployment does not allow what a row needs; the message says what, and what is allowed."""


@dataclass(frozen=True)
class McpTarget:
    """How to reach a server, with its secrets filled in. Two rows with equal targets share a session."""

    name: str
    transport: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    #: Hosts that may have loopback, link-local or private addresses.
    private_hosts: frozenset[str] = frozenset()

    def may_be_private(self, host: str, port: int) -> bool:
        """True when the deployment allows this host a private address, or wrote one."""
        return is_plainly_private(host) or is_listed(host, port, self.private_hosts)


@dataclass(frozen=True)
class McpPolicy:
    """The deployment's policy. Empty: no server can be reached."""

    #: Commands that may be started, as rows write them, with any arguments.
    commands: frozenset[str] = frozenset()
    #: `host`, `host:port` or `*.domain`, in lower case.
    hosts: frozenset[str] = frozenset()
    #: Values of `${NAME}` in environment and headers.
    secrets: Mapping[str, str] = field(default_factory=dict)
    #: Hosts that may have loopback, link-local or private addresses, written as in `hosts`.
    private_hosts: frozenset[str] = frozenset()

    def target(self, server: McpServer) -> McpTarget:
        """How to reach the row's server. Raises NotAllowed."""
        transport = code(server.transport)
        if transport == "STDIO":
            command = server.command or ""
            if command not in self.commands:
                allowed = join_names(self.commands)
                raise NotAllowed(f"The command {command!r} may not be started here. Allowed: {allowed}.")
            env = self._fill_variables(server.env_json)
            if dangerous := next((name for name, _ in env if _LOADS_CODE.fullmatch(name.upper())), None):
                raise NotAllowed(
                    f"The variable {dangerous} may not be set for a command: it can make it run other code."
                )
            return McpTarget(server.name, transport, command, tuple(map(str, server.args_json or ())), tuple(env))
        url = server.url or ""
        if not self.allows_host(url):
            raise NotAllowed(f"The host of {url!r} may not be reached from here. Allowed: {join_names(self.hosts)}.")
        return McpTarget(
            server.name,
            transport,
            url=url,
            headers=tuple(self._fill_variables(server.headers_json)),
            private_hosts=self.private_hosts,
        )

    def allows_host(self, url: str) -> bool:
        """True when the deployment names the address's host."""
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or not host or parts.username is not None:
            return False
        return is_listed(host, port or (443 if parts.scheme == "https" else 80), self.hosts)

    def _fill_variables(self, values: Json) -> list[tuple[str, str]]:
        """The pairs with every `${NAME}` replaced, in order of their names."""
        pairs = values.items() if isinstance(values, Mapping) else ()
        return sorted((str(name), _SECRET.sub(self._secret, str(value))) for name, value in pairs)

    def _secret(self, match: re.Match[str]) -> str:
        if match[1] not in self.secrets:
            raise NotAllowed(f"There is no secret {match[1]}; the deployment sets CE_MCP_SECRET_{match[1]}.")
        return self.secrets[match[1]]
