"""Puts records with aiokpl and its default settings. The argument is the port of the endpoint."""

import asyncio
import sys

from aiokpl import Config, Producer
from workload import done, orders, work_records


async def main():
    config = Config(
        region="us-east-1",
        endpoint_url=f"https://127.0.0.1:{sys.argv[1]}",
        verify_ssl=False,
        aws_access_key_id="bench",
        aws_secret_access_key="bench",
    )
    async with Producer(config) as producer:
        for first, count in orders():
            outcomes = [
                await producer.put_record(stream="Events", partition_key=key, data=data)
                for key, data in work_records(first, count)
            ]
            await producer.flush()
            results = await asyncio.gather(*(outcome.wait() for outcome in outcomes))
            failed = sum(not result.success for result in results)
            if failed:
                print(f"{failed} records failed", file=sys.stderr)
            done()


asyncio.run(main())
