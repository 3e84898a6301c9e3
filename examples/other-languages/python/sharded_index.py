"""What a writer adds to an item so that it appears in a sharded index of cdk-even-shards."""

import base64
import hashlib
import random
from decimal import Decimal


def shard_attributes(config: dict, item: dict) -> dict:
    """config: the JSON of bindWriter's environment variable, parsed. item: as boto3's Table.put_item takes it."""
    if config.get("version", 1) != 1:
        raise ValueError(f"config.version must be 1 or absent, got {config['version']}")
    count, prefix = config["shards"]["default"], None
    if "valueAttribute" in config:
        if config["valueAttribute"] not in item:
            return {}  # an item without the value is not in the index
        prefix = key_text(item[config["valueAttribute"]])
        count = config["shards"].get("byValue", {}).get(prefix, count)
    if config["strategy"] == "random":
        shard = random.randrange(count["write"])
    else:
        shard = calculated_shard("#".join(key_text(item[name]) for name in config["tableKey"]), count["write"])
    concatenated = config["keyLayout"] == "single-attribute" and prefix is not None
    return {config["shardAttribute"]: f"{prefix}#{shard}" if concatenated else shard}


def calculated_shard(id: str, shard_count: int) -> int:
    """Jump consistent hash (Lamping and Veach, 2014) of the first 8 bytes of the MD5 of the id."""
    state = int.from_bytes(hashlib.md5(id.encode(), usedforsecurity=False).digest()[:8], "big")
    bucket = following = 0
    while following < shard_count:
        bucket = following
        state = (state * 2862933555777941757 + 1) % 2**64
        following = int((bucket + 1) * (2**31 / ((state >> 33) + 1)))
    return bucket


def key_text(value: str | bytes | int | float | Decimal) -> str:
    """A text is itself, binary is base64, and a number has decimal digits without an exponent or needless zeros."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    digits = format(Decimal(str(value)), "f")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return "0" if digits == "-0" else digits
