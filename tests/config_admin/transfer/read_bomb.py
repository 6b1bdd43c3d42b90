"""Reads a file as an import does, in a process of its own; prints the refusal, the seconds and the megabytes."""

import json
import resource
import sys
import time
from pathlib import Path

import django

django.setup()

from config_admin.transfer.document import FileRefused  # noqa: E402 - only now is Django ready
from config_admin.transfer.files import read_bytes  # noqa: E402
from config_admin.transfer.workbooks import read_workbook, write_sheets  # noqa: E402


def measure_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


read_workbook("ce_intent.xlsx", write_sheets({"ce_intent": [["intent_code"]]}))
data, refused = Path(sys.argv[2]).read_bytes(), ""
before, began = measure_megabytes(), time.process_time()
try:
    read_bytes(sys.argv[1], data)
except FileRefused as error:
    refused = str(error)[:200]
seconds = time.process_time() - began
print(json.dumps({"refused": refused, "seconds": seconds, "megabytes": measure_megabytes() - before}))
