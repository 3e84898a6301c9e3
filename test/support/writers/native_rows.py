"""Converts the texts of the test vectors to rows with the types of the Python driver."""

from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

VALUES = {
    "blob": lambda text: bytes.fromhex(text[2:]),
    "boolean": lambda text: text == "true",
    "date": date.fromisoformat,
    "decimal": Decimal,
    "time": time.fromisoformat,
    "timestamp": lambda text: datetime.fromisoformat(text).replace(tzinfo=None),
    **dict.fromkeys(["ascii", "text", "varchar"], str),
    **dict.fromkeys(["bigint", "int", "smallint", "tinyint", "varint"], int),
    **dict.fromkeys(["double", "float"], float),
    **dict.fromkeys(["timeuuid", "uuid"], UUID),
}


def native(config: dict, row: dict) -> dict:
    """Returns a row in which each value has the type that the driver uses."""
    types = {column["name"]: column["type"] for column in config["partitionKey"] + config["clusteringColumns"]}
    return {name: VALUES[types[name]](text) for name, text in row.items()}
