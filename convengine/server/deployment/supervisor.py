"""Keep the processes of an installation running: start them, start them again, replace them, and end them.

A process that dies is started again, after a pause that doubles with each death. It never ends the installation.
SIGHUP replaces all processes one after another, SIGTERM and SIGINT end them. A second SIGTERM kills what still runs.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

#: Seconds before a process that died is started again. The pause doubles, and is short again after a stable time.
FIRST_PAUSE, LONGEST_PAUSE, STABLE_SECONDS = 0.5, 30.0, 60.0
#: Seconds in which a process that is replaced asks its clients to connect again, and which a new one has to get ready.
DRAIN_SECONDS, READY_SECONDS = 2.0, 120.0
#: Asks a server process to close each connection after its next answer.
DRAIN_SIGNAL = signal.SIGUSR1
#: Asks a server process to wait no longer than a few seconds for what it calls outside.
HURRY_SIGNAL = signal.SIGUSR2
#: Connections that may wait until a process takes them.
BACKLOG = 1024
_TICK = 0.1


@dataclass(frozen=True)
class Child:
    """A process to keep running."""

    name: str
    command: Sequence[str]
    #: Sockets that it inherits. They stay open here, so that no connection is lost when the process ends.
    sockets: Sequence[socket.socket] = ()
    #: The others need it until they have ended.
    serves: bool = False
    #: It takes `--ready FD`, and writes into that file when it can work. It understands DRAIN_SIGNAL and HURRY_SIGNAL.
    reports_ready: bool = False
    #: Seconds in which it may finish what it does.
    stop_seconds: float = 30.0
    environment: Mapping[str, str] = field(default_factory=dict)


#: The system starts no process now: no memory, too many processes or open files.
_NO_PROCESS = (OSError, subprocess.SubprocessError)


class Process:
    """A child that was started."""

    def __init__(self, child: Child, environment: Mapping[str, str], folder: Path) -> None:
        """Raises OSError or SubprocessError."""
        self.child, self.started, self.is_ready = child, time.monotonic(), not child.reports_ready
        command, sockets = list(child.command), [each.fileno() for each in child.sockets]
        self._ready, writer = os.pipe()
        os.set_blocking(self._ready, False)
        if child.reports_ready:
            command += ["--ready", str(writer)]
            sockets.append(writer)
        try:
            self._process = subprocess.Popen(  # noqa: S603
                command,
                env={**environment, **child.environment},
                cwd=folder,
                pass_fds=sockets,
                process_group=0,
                preexec_fn=end_with_parent,  # noqa: PLW1509
            )
        except BaseException:
            os.close(self._ready)
            raise
        finally:
            os.close(writer)
        #: When the next signal is due, if the process shall end.
        self._signals: list[tuple[float, Callable[[], None]]] = []

    @property
    def pid(self) -> int:
        return self._process.pid

    def has_ended(self) -> bool:
        if self._process.poll() is None:
            return False
        if self._ready >= 0:
            os.close(self._ready)
            self._ready = -1
        return True

    def check_ready(self) -> bool:
        """Whether it said that it is ready."""
        if not self.is_ready:
            with suppress(BlockingIOError, OSError):
                self.is_ready = os.read(self._ready, 1) != b""
        return self.is_ready

    def describe_end(self) -> dict[str, object]:
        """Its signal or its exit status."""
        status = self._process.returncode
        if status is not None and status < 0:
            with suppress(ValueError):
                return {"signal": signal.Signals(-status).name}
            return {"signal": -status}
        return {"status": status}

    def end(self, *, drain_seconds: float = 0.0) -> None:
        """Let it end: drain its connections if there is time, else hurry; finish its work; in the end by force."""
        now = time.monotonic()
        if self.child.reports_ready:
            self._signal(DRAIN_SIGNAL if drain_seconds else HURRY_SIGNAL)
        self._signals = [
            (now + drain_seconds, lambda: self._signal(signal.SIGTERM)),
            (now + drain_seconds + self.child.stop_seconds, self.kill),
        ]
        self.send_due_signals()

    def send_due_signals(self) -> None:
        while self._signals and self._signals[0][0] <= time.monotonic():
            self._signals.pop(0)[1]()

    def kill(self) -> None:
        """Together with its own child processes, which would go on."""
        if self._process.poll() is None:
            log.warning("process killed, because it did not end in time", process=self.child.name, pid=self.pid)
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:
            self._process.send_signal(number)


@dataclass
class _Slot:
    """The place of one child: the process that runs, and the one that takes over from it."""

    child: Child
    current: Process | None = None
    successor: Process | None = None
    start_at: float = 0.0
    pause: float = 0.0

    def delay(self, now: float) -> None:
        """Start the child after a pause, which is twice as long as the one before."""
        self.pause = min(self.pause * 2, LONGEST_PAUSE) if self.pause else FIRST_PAUSE
        self.start_at = now + self.pause


class Supervisor:
    """Runs until a signal comes."""

    def __init__(
        self,
        children: Sequence[Child],
        folder: Path,
        environment: Mapping[str, str] | None = None,
        *,
        prepare: Sequence[str] = (),
        on_death: Callable[[str], None] = lambda name: None,
    ) -> None:
        """`prepare` is a command that must succeed before new processes replace the old ones.

        `on_death` is called with the name of a child that died and is started again.
        """
        self._slots = [_Slot(child) for child in children]
        self._folder = folder
        self._environment = dict(os.environ if environment is None else environment)
        # Only this process speaks with systemd.
        self._notify_address = self._environment.pop("NOTIFY_SOCKET", "")
        self._prepare, self._on_death = prepare, on_death
        self._preparation: subprocess.Popen[bytes] | None = None
        self._to_replace: list[_Slot] = []
        self._ending: list[Process] = []
        self._stops_wanted = 0
        self._restart_wanted = False
        self._said_ready = False

    def run(self) -> int:
        """Keep the children running until a signal ends them; returns the exit status."""
        signal.signal(signal.SIGTERM, self._on_stop)
        signal.signal(signal.SIGINT, self._on_stop)
        signal.signal(signal.SIGHUP, self._on_restart)
        try:
            while not self._stops_wanted:
                self._tick()
                time.sleep(_TICK)
            return 0
        finally:
            self._notify("STOPPING=1")
            self._stop()

    def _on_stop(self, *_: object) -> None:
        self._stops_wanted += 1

    def _on_restart(self, *_: object) -> None:
        self._restart_wanted = True

    def _tick(self) -> None:
        for slot in self._slots:
            self._keep_running(slot)
        for process in self._ending:
            process.send_due_signals()
        self._ending = [process for process in self._ending if not process.has_ended()]
        self._begin_restart()
        self._replace_next()
        if not self._said_ready and all(slot.current and slot.current.check_ready() for slot in self._slots):
            self._said_ready = True
            self._notify("READY=1")

    def _start(self, child: Child) -> Process:
        return Process(child, self._environment, self._folder)

    def _keep_running(self, slot: _Slot) -> None:
        """Start the slot's process, or start it again when the pause after its death is over."""
        now, process = time.monotonic(), slot.current
        if process is None:
            if now < slot.start_at:
                return
            try:
                slot.current = self._start(slot.child)
            except _NO_PROCESS as error:
                slot.delay(now)
                log.error("process not started", process=slot.child.name, error=str(error), pause_seconds=slot.pause)
            return
        if not process.has_ended():
            return
        lived = now - process.started
        if lived >= STABLE_SECONDS:
            slot.pause = 0.0
        slot.current = None
        slot.delay(now)
        log.error(
            "process ended; restarting it",
            process=slot.child.name,
            pid=process.pid,
            **process.describe_end(),
            lived_seconds=round(lived, 1),
            pause_seconds=slot.pause,
        )
        self._on_death(slot.child.name)

    def _begin_restart(self) -> None:
        """Prepare what SIGHUP asked for; when that is done, list the processes to replace."""
        if self._restart_wanted and self._preparation is None and not self._to_replace:
            self._restart_wanted = False
            log.info("restart begins")
            self._notify("RELOADING=1")
            if not self._prepare:
                self._list_to_replace()
                return
            try:
                self._preparation = subprocess.Popen(  # noqa: S603
                    self._prepare,
                    env=self._environment,
                    cwd=self._folder,
                    process_group=0,
                    preexec_fn=end_with_parent,  # noqa: PLW1509
                )
            except _NO_PROCESS as error:
                self._give_up_restart("the preparation did not start", error=str(error))
        if self._preparation is not None and self._preparation.poll() is not None:
            status, self._preparation = self._preparation.returncode, None
            if status:
                self._give_up_restart("the preparation failed", status=status)
            else:
                self._list_to_replace()

    def _list_to_replace(self) -> None:
        # What others need stays: it holds their messages.
        self._to_replace = [slot for slot in self._slots if not slot.child.serves]

    def _replace_next(self) -> None:
        """Replace one process at a time; the old one ends when the new one is ready."""
        if not self._to_replace:
            return
        slot = self._to_replace[0]
        try:
            successor = slot.successor = slot.successor or self._start(slot.child)
        except _NO_PROCESS as error:
            self._give_up_restart("a new process did not start", process=slot.child.name, error=str(error))
            return
        if successor.has_ended():
            slot.successor = None
            self._give_up_restart("a new process ended", process=slot.child.name, **successor.describe_end())
        elif successor.check_ready():
            if slot.current is not None:
                slot.current.end(drain_seconds=DRAIN_SECONDS)
                self._ending.append(slot.current)
            slot.current, slot.successor, slot.pause = successor, None, 0.0
            self._to_replace.pop(0)
            if not self._to_replace:
                log.info("restart done")
                self._notify("READY=1")
        elif time.monotonic() - successor.started > READY_SECONDS:
            successor.kill()
            self._ending.append(successor)
            slot.successor = None
            self._give_up_restart("a new process did not get ready", process=slot.child.name)

    def _give_up_restart(self, reason: str, **more: object) -> None:
        """Go on with the processes that run: the old ones that were not replaced yet, and the new ones."""
        self._to_replace.clear()
        log.error("restart aborted: the running processes continue", reason=reason, **more)
        self._notify("READY=1")

    def _stop(self) -> None:
        """End all processes, then those that the others needed."""
        if self._preparation is not None:
            self._preparation.terminate()
        running = [process for slot in self._slots for process in (slot.current, slot.successor) if process]
        for serving in (False, True):
            group = [process for process in running if process.child.serves is serving]
            for process in group:
                process.end()
            self._wait_for_end(group if serving else [*group, *self._ending])

    def _wait_for_end(self, processes: Sequence[Process]) -> None:
        stops = self._stops_wanted
        while not all(process.has_ended() for process in processes):
            for process in processes:
                process.send_due_signals()
                if self._stops_wanted > max(stops, 1):
                    process.kill()
            time.sleep(_TICK / 2)

    def _notify(self, state: str) -> None:
        """Tell systemd (`Type=notify`)."""
        if not self._notify_address:
            return
        address = self._notify_address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.connect("\0" + address[1:] if address.startswith("@") else address)
            sender.sendall(state.encode())


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, which the processes of a server share. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    listener.setblocking(False)
    return listener


def end_with_parent() -> None:
    """On Linux, end a process when its parent ends, however that happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
