"""Many calls of one request at once, once a second: `python -m tests.live.callers COUNT PORT SECONDS < request`.

The request is `{method, path, secret, body}` as JSON. They print the statuses of the answers, as JSON.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any

_PAUSE = 1.0


def call(port: int, request: dict[str, Any]) -> int:
    """One call; gives its status after its whole answer."""
    http = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Api-Key {request['secret']}", "Content-Type": "application/json"}
    http.request(request["method"], request["path"], request["body"], headers)
    response = http.getresponse()
    response.read()
    http.close()
    return response.status


def main() -> None:
    count, port, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    request = json.load(sys.stdin)
    statuses: list[int] = []
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(count) as pool:
        while time.monotonic() < until:
            statuses += pool.map(lambda _: call(port, request), range(count))
            time.sleep(_PAUSE)
    print(json.dumps(statuses))


if __name__ == "__main__":
    main()
