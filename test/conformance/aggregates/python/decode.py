"""Reads a Kinesis record from each line: the partition key and the data in base64, and the range of the shard, which
this decoder ignores. For each record, writes a line with its user records. A user record has its partition key in base64,
its explicit hash key, and its data in base64."""

import base64
import sys

from aws_kinesis_agg.deaggregator import deaggregate_records

SAME = {"kinesisSchemaVersion": "1.0", "approximateArrivalTimestamp": 0, "sequenceNumber": "1"}
EVENT = {name: "x" for name in ("eventID", "eventVersion", "eventSource", "eventName", "invokeIdentityArn", "awsRegion", "eventSourceARN")}


def user_record(record):
    kinesis = record["kinesis"]
    key = base64.b64encode(kinesis["partitionKey"].encode()).decode()
    data = kinesis["data"]
    return f"{key}:{kinesis.get('explicitHashKey') or ''}:{data if isinstance(data, str) else data.decode()}"


for line in sys.stdin:
    key, data, _, _ = line.rstrip("\n").split(" ")
    event = {**EVENT, "kinesis": {**SAME, "partitionKey": base64.b64decode(key).decode(), "data": data}}
    print(" ".join(user_record(record) for record in deaggregate_records([event])))
