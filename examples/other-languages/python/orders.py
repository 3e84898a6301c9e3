"""A Lambda function that places orders, and lists the newest orders of a status.

In the CDK app, give the function its environment variables and permissions:

    by_status.bind_writer(orders)                               # BY_STATUS, dynamodb:PutItem and dynamodb:UpdateItem
    query.grant_invoke(orders)                                  # lambda:InvokeFunction
    orders.add_environment("QUERY", query.function_name)
"""

import json
import os

import boto3

from sharded_index import shard_attributes

by_status = json.loads(os.environ["BY_STATUS"])
table = boto3.resource("dynamodb").Table(by_status["tableName"])
functions = boto3.client("lambda")


def handler(event: dict, context: object) -> dict:
    if "order" in event:
        order = event["order"]
        table.put_item(Item={**order, **shard_attributes(by_status, order)})
        return {"placed": order["orderId"]}
    return newest(event["status"], event.get("cursor"))


def newest(status: str, cursor: str | None) -> dict:
    """Returns a page of up to 25 orders, and a cursor if more orders follow."""
    request = {"index": by_status["indexName"], "value": status, "order": "descending", "limit": 25}
    payload = json.dumps(request if cursor is None else {**request, "cursor": cursor})
    answer = functions.invoke(FunctionName=os.environ["QUERY"], Payload=payload)
    page = json.load(answer["Payload"])
    if "FunctionError" in answer:
        raise RuntimeError(page["errorMessage"])  # it starts with a code, such as [INVALID_CURSOR]
    return page
