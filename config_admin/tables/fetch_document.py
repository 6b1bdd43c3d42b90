"""Fetch a document from an address: only from public ones, unless the deployment allows its host."""

from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import httpx2

from convengine.engine.tools.fault import ToolFault
from convengine.files import Unreadable
from convengine.files.document_text import MOST_BYTES, READABLE
from convengine.server.deployment import conf
from convengine.server.outgoing.addresses import is_listed
from convengine.server.outgoing.loop import outgoing
from convengine.server.outgoing.transport import AnswerTooLarge, GuardedTransport

_SECONDS, _MOST_REDIRECTS = 30.0, 5
_REMEDY = "Upload the file, or ask an operator to add the host to CE_DOCUMENT_PRIVATE_HOSTS."
#: How documents end whose address does not say what they are.
_ENDINGS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "text/markdown": ".md",
    "text/plain": ".txt",
}


def fetch_document(address: str) -> tuple[str, bytes]:
    """The name and the bytes of a document. Raises Unreadable, which says what to do."""
    if urlsplit(address).scheme not in ("http", "https"):
        raise Unreadable("The address must begin with https:// or http://.")
    if "@" in urlsplit(address).netloc:
        raise Unreadable("Leave the name and the password out of the address, or upload the file.")
    try:
        response = outgoing.run(_get(address), _SECONDS)
    except ToolFault as fault:
        raise Unreadable(fault.message) from fault
    except AnswerTooLarge as error:
        raise Unreadable(f"The document has more than {MOST_BYTES // 1024**2} MB. Split it.") from error
    except TimeoutError as error:
        raise Unreadable(f"The address did not answer within {_SECONDS:.0f} seconds. Upload the file.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Unreadable(f"The address cannot be fetched: {error or type(error).__name__}. Upload the file.") from error
    if not response.is_success:
        raise Unreadable(f"The address answers with status {response.status_code}. Upload the file.")
    name, is_text = _name_document(response), response.headers.get("content-type", "").startswith("text/")
    # Only the answer says how a text is written; of a page, its own words may.
    return name, response.text.encode() if is_text and response.charset_encoding else response.content


async def _get(address: str) -> httpx2.Response:
    private = frozenset(host.lower() for host in conf.get("DOCUMENT_PRIVATE_HOSTS"))
    transport = GuardedTransport(
        lambda host, port: is_listed(host, port, private), most_bytes=MOST_BYTES, remedy=_REMEDY
    )
    # A redirect leads through the same guard.
    async with httpx2.AsyncClient(
        transport=transport, follow_redirects=True, max_redirects=_MOST_REDIRECTS, timeout=_SECONDS
    ) as client:
        return await client.get(address, headers={"Accept-Encoding": "identity", "User-Agent": "convengine"})


def _name_document(response: httpx2.Response) -> str:
    """The last part of the address, with the ending of what was sent. Raises Unreadable."""
    path = PurePosixPath(unquote(urlsplit(str(response.url)).path))
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    # Any file may be sent as these.
    if kind in ("", "text/plain", "application/octet-stream") and path.suffix.lower() in READABLE:
        return path.name
    if kind not in _ENDINGS:
        raise Unreadable(
            f"The address gives {kind or 'an unknown kind of file'}. Documents are {', '.join(READABLE)} files."
        )
    name = path.stem if path.suffix.lower() in READABLE else path.name
    return (name or response.url.host) + _ENDINGS[kind]
