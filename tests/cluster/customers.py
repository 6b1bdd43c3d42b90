"""Customers who send turns through the proxy, each again and again under its key until it is answered."""

import json
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

from tests.cluster.world import ASK, DONE, NO_ADVICE
from tests.live.client import TURN

#: Seconds that a customer waits for one answer, and for a turn in all; seconds between two turns and two attempts.
_ANSWER, _PATIENCE, _PAUSE, _AGAIN = 30.0, 180.0, 0.2, 0.25


@dataclass(frozen=True)
class Acknowledged:
    """A turn that was answered."""

    conversation_id: str
    message: str
    order: str
    answer: dict[str, Any]
    #: Seconds from the first attempt to the answer.
    seconds: float
    at: float

    @property
    def text(self) -> Any:
        """What the answer says."""
        return (self.answer.get("payload") or {}).get("value")


@dataclass
class Customer:
    """One customer, with one conversation at a time: `pay`, `yes`, `pay`, `yes`, … One of eight wants advice."""

    port: int
    secret: str
    number: int
    ending: threading.Event
    acknowledged: list[Acknowledged] = field(default_factory=list)
    #: Answers that were no acknowledgement, by status and code; `none` if the connection ended.
    refusals: Counter[str] = field(default_factory=Counter)
    fault: str = ""

    def run(self) -> None:
        """Talk until the end."""
        try:
            while not self.ending.is_set():
                self._talk(str(uuid.uuid4()))
        except Exception as fault:
            self.fault = f"Customer {self.number}: {type(fault).__name__}: {fault}"
            raise

    def _talk(self, conversation_id: str) -> None:
        """One conversation, until a payment does not go the usual way: then a person must look at it."""
        usual, turn = True, 0
        while usual and not self.ending.is_set():
            order = f"{conversation_id}/{turn // 2}"
            message, expected = (("pay", ASK), ("yes", DONE))[turn % 2]
            if self.number % 8 == 0:
                message, expected = "advice", NO_ADVICE
            usual = self._send(conversation_id, turn, message, order) == expected
            turn += 1
            time.sleep(_PAUSE)

    def _send(self, conversation_id: str, turn: int, message: str, order: str) -> Any:
        began = time.monotonic()
        body = {"conversationId": conversation_id, "message": message, "inputParams": {"order": order}}
        while True:
            answer = self._post(body, f"{conversation_id}/{turn}")
            if answer is not None:
                now = time.monotonic()
                self.acknowledged.append(Acknowledged(conversation_id, message, order, answer, now - began, now))
                return self.acknowledged[-1].text
            if time.monotonic() > began + _PATIENCE:
                raise TimeoutError(f"no answer within {_PATIENCE:.0f} seconds: {dict(self.refusals)}")
            time.sleep(_AGAIN)

    def _post(self, body: dict[str, Any], key: str) -> dict[str, Any] | None:
        """The answer of a committed turn, or null: the customer sends the message again under the same key."""
        http = HTTPConnection("127.0.0.1", self.port, timeout=_ANSWER)
        headers = {
            "Authorization": f"Api-Key {self.secret}",
            "Content-Type": "application/json",
            "Connection": "close",
            "Idempotency-Key": key,
        }
        try:
            http.request("POST", TURN, json.dumps(body), headers)
            response = http.getresponse()
            status, text = response.status, response.read()
            if "Content-Length" not in response.headers:
                self.refusals["cut off"] += 1
                return None
        except (OSError, HTTPException) as fault:
            self.refusals[type(fault).__name__] += 1
            return None
        finally:
            http.close()
        try:
            answer: dict[str, Any] = json.loads(text)
        except ValueError:
            # The proxy's own page.
            self.refusals[f"{status} of the proxy"] += 1
            return None
        if status == 200:
            return answer
        self.refusals[f"{status} {answer.get('errorCode')}"] += 1
        return None


class Crowd:
    """Customers side by side."""

    def __init__(self, port: int, secret: str, count: int) -> None:
        self._ending = threading.Event()
        self.customers = [Customer(port, secret, number, self._ending) for number in range(count)]
        self._threads = [threading.Thread(target=customer.run, daemon=True) for customer in self.customers]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Let each finish its turn."""
        self._ending.set()
        for thread in self._threads:
            thread.join(_PATIENCE)

    @property
    def acknowledged(self) -> list[Acknowledged]:
        """What was answered so far, in order of time."""
        return sorted((turn for customer in self.customers for turn in customer.acknowledged), key=lambda turn: turn.at)

    @property
    def refusals(self) -> Counter[str]:
        """What was answered instead."""
        return sum((customer.refusals for customer in self.customers), Counter())

    @property
    def faults(self) -> list[str]:
        """Customers that gave up."""
        return [customer.fault for customer in self.customers if customer.fault]
