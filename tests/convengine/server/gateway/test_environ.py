import io
from typing import Any

from convengine.server.gateway.environ import build_environ


def scope(*headers: tuple[bytes, bytes], raw_path: bytes | None = b"/a", path: str = "/a") -> dict[str, Any]:
    return {
        "type": "http",
        "method": "POST",
        "scheme": "https",
        "http_version": "1.1",
        "path": path,
        "raw_path": raw_path,
        "query_string": b"q=1&n=%C3%A4",
        "headers": list(headers),
        "client": ("10.0.0.7", 4711),
        "server": ("127.0.0.1", 8000),
    }


def environ(*headers: tuple[bytes, bytes], length: int = 3, **values: Any) -> dict[str, Any]:
    return build_environ(scope(*headers, **values), io.BytesIO(b"abc"), length)


def test_the_request_is_described_as_wsgi_wants_it() -> None:
    made = environ((b"host", b"desk.example.com"), (b"content-type", b"application/json"), (b"content-length", b"3"))

    assert made["REQUEST_METHOD"] == "POST"
    assert made["QUERY_STRING"] == "q=1&n=%C3%A4"
    assert (made["HTTP_HOST"], made["CONTENT_TYPE"], made["CONTENT_LENGTH"]) == (
        "desk.example.com",
        "application/json",
        "3",
    )
    assert (made["REMOTE_ADDR"], made["SERVER_PORT"], made["wsgi.url_scheme"]) == ("10.0.0.7", "8000", "https")
    assert made["wsgi.input"].read() == b"abc"


def test_a_path_is_the_bytes_that_were_sent() -> None:
    assert environ(raw_path=b"/%C3%A4/%FF/a%2Fb?x")["PATH_INFO"] == "/\xc3\xa4/\xff/a/b"
    assert environ(raw_path=None, path="/\xe4")["PATH_INFO"] == "/\xc3\xa4"


def test_a_header_with_an_underscore_is_dropped() -> None:
    made = environ((b"x-forwarded-proto", b"http"), (b"x_forwarded_proto", b"https"), (b"content_length", b"9"))

    assert made["HTTP_X_FORWARDED_PROTO"] == "http"
    assert made["CONTENT_LENGTH"] == "3"


def test_headers_that_come_twice_are_joined() -> None:
    made = environ((b"accept", b"a"), (b"accept", b"b"), (b"cookie", b"c=1"), (b"cookie", b"d=2"))

    assert (made["HTTP_ACCEPT"], made["HTTP_COOKIE"]) == ("a,b", "c=1;d=2")


def test_the_length_of_a_body_in_chunks_is_what_was_read() -> None:
    made = environ((b"transfer-encoding", b"chunked"))

    assert made["CONTENT_LENGTH"] == "3"
    assert "HTTP_TRANSFER_ENCODING" not in made
