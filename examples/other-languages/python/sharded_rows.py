"""Calculates the column that a writer adds to a row of Amazon Keyspaces, so that readers of cdk-even-shards find the row.

config is the parsed JSON of bindWriter's environment variable. A row has values that the DataStax driver for Python accepts.
"""

import base64
import math
import random
import struct
import uuid
from datetime import date, datetime, time, timezone
from decimal import Decimal

from sharded_index import calculated_shard, check_counts, is_whole, refuse_if

FIELDS = set(
    "version keyspaceName tableName partitionKey shardColumn firstShard clusteringColumns columns shards strategy"
    " calculatedFrom".split()
)


def shard_columns(config: dict, row: dict) -> dict:
    """Returns the column to add. The row must have the partition key, and the columns from which a calculated shard is calculated."""
    check(config)
    counts = config["shards"].get("byValue") or {}
    count = counts.get(row_text(config["partitionKey"], row), config["shards"]["default"])["write"]
    if config["strategy"] == "random":
        shard = random.randrange(count)
    else:
        columns = {column["name"]: column for column in config["clusteringColumns"]}
        decide = [columns[name] for name in config.get("calculatedFrom", columns)]
        shard = RULES[config["strategy"]](row_text(decide, row), count)
    return {config["shardColumn"]: config["firstShard"] + shard}


def product_of_code_points(text: str, shard_count: int) -> int:
    """Calculates the shard as another program did that wrote an imported table."""
    product = 1 % shard_count
    for character in text:
        product = product * ord(character) % shard_count
    return product


RULES = {"calculated": calculated_shard, "product": product_of_code_points}


def check(config: dict) -> None:
    """Raises an error for a setting that this writer does not support. With such a setting, readers would not find its rows."""
    if config.get("version", 1) != 1:
        raise ValueError(f"config.version must be 1 or absent, got {config['version']}")
    for field in sorted(set(config) - FIELDS):
        raise ValueError(f"config.{field} is not known: update this writer")
    if config["strategy"] not in ("random", *RULES):
        raise ValueError(f"config.strategy is not known: update this writer, got {config['strategy']}")
    is_number = is_whole(config.get("firstShard"), 0, 2**53 - 1)
    refuse_if(not is_number, config, "firstShard", "a whole number of at least 0")
    check_counts(config["shards"])


def row_text(columns: list[dict], row: dict) -> str:
    return "#".join(column_text(column, row.get(column["name"])) for column in columns)


def column_text(column: dict, value: object) -> str:
    """Converts a value to its unique text, by the type of its column."""
    classes, text_of = TYPES[column["type"]]
    is_of_type = isinstance(value, classes) and (bool in classes or not isinstance(value, bool))
    text = text_of(value) if is_of_type else None
    if text is None:
        raise ValueError(f"row.{column['name']} must be given, and be of the type {column['type']}, got {value!r}")
    return text


def integer(bits: int):
    most = 2 ** (bits - 1) - 1
    return (int,), lambda number: str(number) if -most - 1 <= number <= most else None


def decimal_text(number: Decimal | int) -> str | None:
    """Returns only digits, or digits with an exponent if the text would otherwise have more than 2,000 zeros."""
    sign, digits, exponent = Decimal(number).as_tuple()
    if not isinstance(exponent, int):
        return None  # neither NaN nor infinity is a decimal of CQL
    text = "".join(map(str, digits)).lstrip("0")
    zeros = exponent + len(text) - len(text.rstrip("0"))
    text, minus = text.rstrip("0"), "-" if sign else ""
    if text == "":
        return "0"
    point = len(text) + zeros
    if max(-point, zeros) > 2000:
        return f"{minus}{text}E{zeros}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    return minus + text[:point].ljust(point, "0") + ("." + text[point:] if zeros < 0 else "")


def double_text(number: float) -> str:
    """Returns the shortest digits that represent the number exactly, in the format of JavaScript."""
    if math.isnan(number) or math.isinf(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    sign, digits, exponent = Decimal(repr(float(number))).normalize().as_tuple()
    text, minus = "".join(map(str, digits)), "-" if sign else ""
    point = len(text) + exponent
    if number == 0:
        return f"{minus}0"
    if -6 < point <= 21:
        return minus + decimal_text(Decimal(text).scaleb(exponent))
    fraction = "." + text[1:] if len(text) > 1 else ""
    return f"{minus}{text[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def float_text(number: float) -> str:
    return double_text(struct.unpack("f", struct.pack("f", number))[0])


def date_text(value: object) -> str | None:
    """Converts a date, a datetime, or the driver's Date."""
    day = value.date() if hasattr(value, "date") else value
    return day.isoformat() if isinstance(day, date) else None


def time_text(value: object) -> str | None:
    """Converts a time, or the driver's Time."""
    if isinstance(value, time):
        return value.isoformat("microseconds") + "000"
    if not hasattr(value, "nanosecond_time"):
        return None
    seconds, nanoseconds = divmod(value.nanosecond_time, 10**9)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{nanoseconds:09}"


def timestamp_text(value: datetime) -> str | None:
    """Converts a datetime. Without a time zone, the driver assumes UTC. Rejects a value with microseconds, because Cassandra stores whole
    milliseconds and drivers round differently."""
    utc = value if value.tzinfo is None else value.astimezone(timezone.utc).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds") + "Z" if utc.microsecond % 1000 == 0 else None


def text_text(value: str) -> str | None:
    """Rejects a text with half a surrogate pair, which UTF-8 cannot represent."""
    return None if any("\ud800" <= character <= "\udfff" for character in value) else value


def blob_text(value: bytes | bytearray) -> str:
    return base64.b64encode(value).decode()


TYPES = {
    "ascii": ((str,), lambda value: value if value.isascii() else None),
    "bigint": integer(64),
    "blob": ((bytes, bytearray), blob_text),
    "boolean": ((bool,), lambda value: "true" if value else "false"),
    "date": ((object,), date_text),
    "decimal": ((Decimal, int), decimal_text),
    "double": ((float, int), double_text),
    "float": ((float, int), float_text),
    "int": integer(32),
    "smallint": integer(16),
    "text": ((str,), text_text),
    "time": ((object,), time_text),
    "timestamp": ((datetime,), timestamp_text),
    "timeuuid": ((uuid.UUID,), lambda value: str(value) if value.version == 1 else None),
    "tinyint": integer(8),
    "uuid": ((uuid.UUID,), str),
    "varchar": ((str,), text_text),
    "varint": ((int,), str),
}
