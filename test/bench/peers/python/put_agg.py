"""Puts records with aws_kinesis_agg and boto3, as the documentation of aws_kinesis_agg shows. The argument is the port of the endpoint."""

import sys

import boto3
import urllib3
from aws_kinesis_agg.aggregator import RecordAggregator
from workload import done, orders, work_records

urllib3.disable_warnings()
kinesis = boto3.client(
    "kinesis",
    region_name="us-east-1",
    endpoint_url=f"https://127.0.0.1:{sys.argv[1]}",
    verify=False,
    aws_access_key_id="bench",
    aws_secret_access_key="bench",
)


def send(aggregate):
    partition_key, explicit_hash_key, data = aggregate.get_contents()
    hash_key = {"ExplicitHashKey": explicit_hash_key} if explicit_hash_key else {}
    kinesis.put_record(StreamName="Events", PartitionKey=partition_key, Data=data, **hash_key)


for first, count in orders():
    aggregator = RecordAggregator()
    aggregator.on_record_complete(send, execute_on_new_thread=False)
    for key, data in work_records(first, count):
        aggregator.add_user_record(key, data)
    last = aggregator.clear_and_get()
    if last:
        send(last)
    done()
