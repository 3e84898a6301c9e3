"""Calculates the attributes that a writer adds to an item, so that readers of cdk-even-shards find the item. Also calculates the
key of a single item for a reader.

config is the parsed JSON of bindWriter's or bindReader's environment variable. An item has the format of boto3's
Table.put_item.
"""

import base64
import hashlib
import random
from decimal import Decimal

INDEX_FIELDS = set(
    "version tableName indexName tableKey keyLayout valueAttribute shardAttribute sortKeyAttributes shards strategy"
    " firstShard separator shardWidth shardPlacement sparse longestWriteSeconds".split()
)
TABLE_FIELDS = (INDEX_FIELDS - {"indexName", "sparse", "longestWriteSeconds"}) | {"shardedBy"}


def shard_attributes(config: dict, item: dict) -> dict:
    """Returns the attributes to add: the attributes of an index, or the partition key of a table that is sharded by its own key."""
    added = shard_attributes_of_update(config, item)
    if added and "indexName" in config and config.get("sparse") is not True:
        check_sort_key(config, item)
    return added


def shard_attributes_of_update(config: dict, item: dict) -> dict:
    """Returns the attributes to add to an update that sets the value. item: the table key and the value. It need not have the sort
    key of the index."""
    check(config)
    value, is_table = None, "indexName" not in config
    if "valueAttribute" in config:
        value = item.get(config["valueAttribute"])
        if value is None and not is_table:
            return {}  # an item without the value is not in the index
        value = value_text(config, value)
    count = count_of(config, value)["write"]
    if config["strategy"] == "random":
        shard = random.randrange(count)
    else:
        shard = calculated_shard(item_text(config["shardedBy" if is_table else "tableKey"], item), count)
    return {config["shardAttribute"]: place_of(config, value, shard)}


def check_sort_key(config: dict, item: dict) -> None:
    """Raises an error for an item that DynamoDB would leave out of the index without an error."""
    for name in config["sortKeyAttributes"]:
        if not key_text(item.get(name)):
            allowed = f"a text, a number or binary that is not empty: index {config['indexName']} contains no item without it"
            raise ValueError(f"{name} must be {allowed}, got {item.get(name)!r}")


def shard_keys(config: dict, value: str | int | float | Decimal, key: dict) -> list[dict]:
    """Returns all possible keys of an item of a table. The key that writers use is the first.

    There are several keys only while the shard count of the table changes. key: the sort key, and the attributes of shardedBy.
    """
    check(config)
    if "indexName" in config or config["strategy"] == "random":
        raise ValueError("config.strategy must be calculated, and config.indexName absent, to know the key of an item")
    partition_key, sort_key = config["tableKey"]
    value, text = value_text(config, value), item_text(config["shardedBy"], key)
    item_text([sort_key], key)
    count = count_of(config, value)
    least = count.get("since", count["write"])
    shards = {calculated_shard(text, shards) for shards in range(least, count["read"] + 1)}
    of_writers = calculated_shard(text, count["write"])
    places = [of_writers, *sorted(shards - {of_writers})]
    return [{partition_key: place_of(config, value, shard), sort_key: key[sort_key]} for shard in places]


def place_of(config: dict, value: str | None, shard: int) -> int | str:
    """Returns the value of the shard attribute: a number, or a text with the value and the shard."""
    number = config.get("firstShard", 0) + shard
    if config["keyLayout"] == "multi-attribute" or value is None:
        return number
    parts = [value, str(number).zfill(config.get("shardWidth", 1))]
    if config.get("shardPlacement") == "prefix":
        parts.reverse()
    return config.get("separator", "#").join(parts)


def count_of(config: dict, value: str | None) -> dict:
    """Returns the number of shards of a value for writers and for readers."""
    return (config["shards"].get("byValue") or {}).get(value, config["shards"]["default"])


def calculated_shard(id: str, shard_count: int) -> int:
    """Jump consistent hash (Lamping and Veach, 2014) of the first 8 bytes of the MD5 of the id."""
    state = int.from_bytes(hashlib.md5(id.encode(), usedforsecurity=False).digest()[:8], "big")
    bucket = following = 0
    while following < shard_count:
        bucket = following
        state = (state * 2862933555777941757 + 1) % 2**64
        following = int((bucket + 1) * (2**31 / ((state >> 33) + 1)))
    return bucket


def check(config: dict) -> None:
    """Raises an error for a setting that this writer does not support. With such a setting, readers would not find its items."""
    unknown = sorted(set(config) - (INDEX_FIELDS if "indexName" in config else TABLE_FIELDS))
    if config.get("version", 1) != 1:
        raise ValueError(f"config.version must be 1 or absent, got {config['version']}")
    if unknown:
        raise ValueError(f"config.{unknown[0]} is not known: update this writer")
    for field, words in {
        "keyLayout": ["multi-attribute", "single-attribute"],
        "strategy": ["random", "calculated"],
    }.items():
        if config.get(field) not in words:
            raise ValueError(f"config.{field} is not known: update this writer, got {config.get(field)}")
    sparse, seconds = config.get("sparse", False), config.get("longestWriteSeconds", 1)
    refuse_if(not isinstance(sparse, bool), config, "sparse", "true, false or absent")
    refuse_if(not is_whole(seconds, 1, 86_400), config, "longestWriteSeconds", "a whole number from 1 to 86400")
    check_shard_format(config)
    check_counts(config["shards"])


def check_shard_format(config: dict) -> None:
    """Raises an error for a shard format with which a reader could not read the shard number of a key."""
    first, width = config.get("firstShard", 0), config.get("shardWidth", 1)
    separator, placement = config.get("separator", "#"), config.get("shardPlacement", "suffix")
    is_text = isinstance(separator, str) and separator != ""
    refuse_if(not is_whole(first, 0, 2**53 - 1), config, "firstShard", "a whole number of at least 0")
    digits = "0123456789"
    wrong = not is_text or any(character in digits for character in separator)
    refuse_if(wrong, config, "separator", "a text without digits that is not empty")
    refuse_if(not is_whole(width, 1, 10), config, "shardWidth", "a whole number from 1 to 10")
    refuse_if(placement not in ("suffix", "prefix"), config, "shardPlacement", "suffix or prefix")
    is_beside_value = config["keyLayout"] == "single-attribute" and "valueAttribute" in config
    for field in () if is_beside_value else ("separator", "shardWidth", "shardPlacement"):
        refuse_if(field in config, config, field, "absent: the shard is a number in an attribute of its own")
    for field in () if "indexName" in config else ("separator", "firstShard"):
        refuse_if(field not in config, config, field, "given for a table")


def refuse_if(wrong: bool, config: dict, field: str, allowed: str) -> None:
    if wrong:
        raise ValueError(f"config.{field} must be {allowed}, got {config.get(field)!r}")


def is_whole(number: object, least: int, most: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and least <= number <= most


def check_counts(shards: dict) -> None:
    """Raises an error for an unknown field. If this writer ignored the field, it could put items into shards that readers do not query."""
    counts = [shards["default"], *(shards.get("byValue") or {}).values()]
    unknown = (set(shards) - {"default", "byValue"}).union(*counts) - {"write", "read", "since"}
    for field in sorted(unknown):
        raise ValueError(f"config.shards has the field {field}, which is not known: update this writer")


def value_text(config: dict, value: object) -> str:
    """Returns the value of an item as a text, in the format of partition keys and of the counts by value."""
    text = None if is_binary(value) else key_text(value)
    if not text:
        raise ValueError(f"{config['valueAttribute']} must be a number or a text that is not empty, got {value!r}")
    if "indexName" not in config and config["separator"] in text:
        raise ValueError(f"{config['valueAttribute']} must not contain {config['separator']!r}, got {value!r}")
    return text


def item_text(attributes: list[str], item: dict) -> str:
    """Returns the text from which the shard is calculated."""
    texts = {name: key_text(item.get(name)) for name in attributes}
    for name, text in texts.items():
        if text is None:
            raise ValueError(f"{name} must be a text, a number or binary: it decides the shard, got {item.get(name)!r}")
    return "#".join(texts.values())


def key_text(value: object) -> str | None:
    """Converts a key value to a text: a text stays unchanged, binary becomes base64, and a number becomes decimal digits without an
    exponent and without unnecessary zeros."""
    if isinstance(value, str):
        return value
    if is_binary(value):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not Decimal(value).is_finite():
        return None
    digits = format(Decimal(str(value)), "f")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return "0" if digits == "-0" else digits


def is_binary(value: object) -> bool:
    """Whether a value is binary: bytes, a bytearray, or boto3's Binary."""
    return isinstance(value, bytes | bytearray) or hasattr(value, "__bytes__")
