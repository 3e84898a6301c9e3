"""Rows as the driver for Python has them, from the texts of the test vectors."""

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
    """A row with what the driver has for each type."""
    types = {column["name"]: column["type"] for column in config["partitionKey"] + config["clusteringColumns"]}
    return {name: VALUES[types[name]](text) for name, text in row.items()}
