"""Learn very many phrases in a process of its own: `python -m convengine.server.phrase_models.training`.

It takes up to 600 MB and minutes, which no process should have that serves. The phrases come as JSON on standard input,
and what was learned is on standard output. Vectors are shared through the database.
"""

import json
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # A new process imports this before Django is set up there.
    from convengine.engine.understanding.phrases.classifier import Content

#: Longest time of a training, in seconds.
LONGEST_TRAINING = 3 * 3600
_ERROR = 1000


def train_in_process(content: "Content") -> bytes:
    """Have another process learn the phrases. Raises TrainingFailed."""
    from django.db import connection

    from convengine.engine.understanding.phrases.classifier import TrainingFailed

    database = str(connection.settings_dict["NAME"])
    command = [sys.executable, "-m", __spec__.name]
    try:
        ended = subprocess.run(  # noqa: S603 - this module itself
            command,
            check=False,
            input=json.dumps([database, content]).encode(),
            capture_output=True,
            timeout=LONGEST_TRAINING,
        )
    except (OSError, subprocess.SubprocessError) as fault:
        raise TrainingFailed(f"The process that learns {len(content.examples)} phrases did not end: {fault}") from fault
    if ended.returncode:
        # A process that the system ends for lack of memory says nothing.
        raise TrainingFailed(
            f"The process that learns {len(content.examples)} phrases ended with status {ended.returncode}. It needs "
            f"up to 600 MB of memory. {ended.stderr.decode(errors='replace')[-_ERROR:]}".strip()
        )
    return ended.stdout


def main() -> None:
    """Learn, and write the result."""
    output, sys.stdout = sys.stdout.buffer, sys.stderr
    database, (examples, words, synonyms, encoder, languages) = json.load(sys.stdin)
    import django
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = database
    django.setup()
    from convengine.engine.understanding.phrases.classifier import Content, Example
    from convengine.engine.understanding.phrases.models import train_content
    from convengine.server.phrase_models.store import DatabaseStore

    groups = tuple(map(tuple, synonyms))
    content = Content(
        tuple(map(Example._make, examples)), tuple(map(Example._make, words)), groups, encoder, tuple(languages)
    )
    output.write(train_content(content, DatabaseStore()))
    output.flush()


if __name__ == "__main__":
    main()
