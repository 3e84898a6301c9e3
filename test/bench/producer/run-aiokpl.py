"""Runs the scenario of aiokpl's own benchmark: puts all records, waits for the outcome of each record, and prints the seconds."""

import asyncio
import sys
import time

from aiokpl import Config, Producer

endpoint, stream, records, keys, record_bytes = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])


async def main():
    config = Config(
        region="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        aggregation_enabled=True,
        record_max_buffered_time_ms=50.0,
        max_outstanding_records=records + 1000,
    )
    data = b"x" * record_bytes
    async with Producer(config) as producer:
        start = time.perf_counter()
        outcomes = [
            await producer.put_record(stream=stream, partition_key=f"pk-{index % keys}", data=data)
            for index in range(records)
        ]
        await producer.flush()
        results = await asyncio.gather(*(outcome.wait() for outcome in outcomes))
        seconds = time.perf_counter() - start
    if not all(result.success for result in results):
        sys.exit("not every record was stored")
    print(seconds)


asyncio.run(main())
