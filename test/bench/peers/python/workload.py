"""Creates the same records as workload.ts, and reads and writes the lines of a peer."""

import sys

KEYS = 1_000
RECORD_BYTES = 100


def work_records(first, count):
    for number in range(first, first + count):
        yield f"key-{number % KEYS}", f"{number:010d}".ljust(RECORD_BYTES, "x").encode()


def orders():
    for line in sys.stdin:
        first, count = map(int, line.split())
        yield first, count


def done():
    print("done", flush=True)
