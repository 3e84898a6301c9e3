"""Writes rows as a Python application does: python write_rows.py PORT. Each line of the input is JSON with a configuration and a row."""

import json
import sys

from cassandra.cluster import Cluster

from native_rows import native
from sharded_rows import shard_columns


def write(session, config: dict, row: dict) -> None:
    row = {**row, **shard_columns(config, row)}
    names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" for _ in row)
    table = f'"{config["keyspaceName"]}"."{config["tableName"]}"'
    session.execute(session.prepare(f"INSERT INTO {table} ({names}) VALUES ({marks})"), list(row.values()))


if __name__ == "__main__":
    with Cluster(["127.0.0.1"], port=int(sys.argv[1])) as cluster:
        session = cluster.connect()
        for line in sys.stdin:
            case = json.loads(line)
            write(session, case["config"], native(case["config"], case["row"]))
