"""Reads an ordered page of a sharded index, or of a table that is sharded by its own key, with boto3 only.

    table = boto3.resource("dynamodb", config=Config(max_pool_connections=50)).Table(by_status["tableName"])
    page = ordered_page(table, by_status, "shipped", since="2026-11-01", until="2026-11-30", descending=True)
"""

import base64
import heapq
import json
import math
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from sharded_index import check, count_of, is_binary, place_of, value_text


def ordered_page(table, config, value=None, *, since=None, until=None, descending=False, limit=25, cursor=None) -> dict:
    """Returns the items in the order of the sort key, and the cursor of the next page, or None after the last page.

    config: the parsed JSON of bindReader's environment variable. since, until: the inclusive bounds of the first attribute of
    the sort key. The function reads each shard's share of the page in parallel. Then it reads more items of the shards whose
    items are used up first.
    """
    check(config)
    text = None if value is None else value_text(config, value)
    shards = range(count_of(config, text)["read"])
    starts = keys_of(cursor)
    share = limit / len(shards)
    size = math.ceil(share + math.sqrt(share))

    def read(shard: int, start: dict | None) -> dict:
        query = query_of(config, value, place_of(config, text, shard), since, until)
        if start is not None:
            query["ExclusiveStartKey"] = start
        # Threads can share a client, but not a Table.
        return table.meta.client.query(**query, ScanIndexForward=not descending, Limit=size)

    def items_of(shard: int, answer: dict):
        yield from ((shard, item) for item in answer["Items"])
        while "LastEvaluatedKey" in answer:
            answer = read(shard, answer["LastEvaluatedKey"])
            yield from ((shard, item) for item in answer["Items"])

    with ThreadPoolExecutor(min(len(shards), 50)) as pool:
        answers = list(pool.map(read, shards, map(starts.get, shards)))
    merged = heapq.merge(*map(items_of, shards, answers), key=lambda found: rank(config, found[1]), reverse=descending)
    found = list(islice(merged, limit + 1))
    for shard, item in found[:limit]:
        starts[shard] = {name: item[name] for name in key_names(config)}
    has_more = len(found) > limit
    return {"items": [item for _, item in found[:limit]], "cursor": cursor_of(starts) if has_more else None}


def query_of(config: dict, value, place, since, until) -> dict:
    """The query of one shard."""
    names, values = {"#shard": config["shardAttribute"]}, {":shard": place}
    condition = "#shard = :shard"
    if config["keyLayout"] == "multi-attribute" and value is not None:
        names["#value"], values[":value"] = config["valueAttribute"], value
        condition = "#value = :value AND #shard = :shard"
    ends = {name: end for name, end in {":since": since, ":until": until}.items() if end is not None}
    if ends:
        names["#sort"] = config["sortKeyAttributes"][0]
        ranges = {":since": "#sort >= :since", ":until": "#sort <= :until"}
        condition += " AND " + ("#sort BETWEEN :since AND :until" if len(ends) == 2 else ranges[next(iter(ends))])
    return {
        "TableName": config["tableName"],
        **({"IndexName": config["indexName"]} if "indexName" in config else {}),
        "KeyConditionExpression": condition,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values | ends,
    }


def rank(config: dict, item: dict) -> list:
    """The value by which items are ordered. Python orders texts like DynamoDB, which orders them by their UTF-8 bytes."""
    key = [item[name] for name in config["sortKeyAttributes"]]
    return [bytes(value) if is_binary(value) else value for value in key]


def key_names(config: dict) -> set[str]:
    """The attributes of the start key that continues a query after an item."""
    of_index = {config["shardAttribute"], *config["sortKeyAttributes"]}
    if config["keyLayout"] == "multi-attribute" and "valueAttribute" in config:
        of_index.add(config["valueAttribute"])
    return of_index | set(config["tableKey"])


def cursor_of(starts: dict) -> str:
    """A text with the last key of each shard that the page has reached."""
    keys = {shard: {name: TypeSerializer().serialize(of) for name, of in key.items()} for shard, key in starts.items()}
    return json.dumps(keys, default=lambda binary: base64.b64encode(binary).decode())


def keys_of(cursor: str | None) -> dict:
    def plain(value: dict):
        return base64.b64decode(value["B"]) if "B" in value else TypeDeserializer().deserialize(value)

    keys = json.loads(cursor or "{}")
    return {int(shard): {name: plain(value) for name, value in key.items()} for shard, key in keys.items()}
