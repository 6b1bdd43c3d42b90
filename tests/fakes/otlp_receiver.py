"""A collector that keeps the spans that it receives over OTLP/HTTP, decoded with the classes of the protocol."""

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class OtlpReceiver:
    """The spans so far."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Any] = []
        #: The attributes of the processes that sent them.
        self.resources: list[dict[str, str]] = []

    def wait_for(self, name: str, seconds: float = 30) -> Any:
        """The first span of a name."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if spans := [span for span in self.spans if span.name == name]:
                return spans[0]
            time.sleep(0.05)
        raise AssertionError(f"no span {name} among {sorted({span.name for span in self.spans})}")

    def take(self, body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        request = ExportTraceServiceRequest()
        request.ParseFromString(body)
        for group in request.resource_spans:
            self.resources.append({pair.key: pair.value.string_value for pair in group.resource.attributes})
            for scope in group.scope_spans:
                self.spans.extend(scope.spans)


@contextmanager
def receive_spans() -> Iterator[OtlpReceiver]:
    """A collector on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            receiver.take(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = OtlpReceiver(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


def attributes_of(span: Any) -> dict[str, Any]:
    """The attributes of a span as plain values."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in span.attributes}
