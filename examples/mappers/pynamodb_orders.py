"""Orders in a sharded index, with PynamoDB. The shard is an ordinary attribute of the model, and both writes that change the
status set the shard. A page is read from the shards with boto3, in both key layouts, because PynamoDB does not support an
index key of several attributes.

sharded_index.py and ordered_page.py are the files in examples/other-languages/python.
"""

import boto3
from boto3.dynamodb.types import TypeSerializer
from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.models import Model

from ordered_page import ordered_page
from sharded_index import shard_attributes_of_update


def pynamodb_orders(by_status: dict, endpoint: str | None = None):
    partition_key, sort_key = by_status["tableKey"]
    is_number = by_status["keyLayout"] == "multi-attribute"
    table = boto3.resource("dynamodb", endpoint_url=endpoint).Table(by_status["tableName"])

    class Order(Model):
        class Meta:
            table_name = by_status["tableName"]
            host = endpoint

        key = UnicodeAttribute(hash_key=True, attr_name=partition_key)
        kind = UnicodeAttribute(range_key=True, attr_name=sort_key)
        order_id = UnicodeAttribute(attr_name="orderId")
        status = UnicodeAttribute()
        created_at = UnicodeAttribute(attr_name="createdAt")
        note = UnicodeAttribute(null=True)
        shard = (NumberAttribute if is_number else UnicodeAttribute)(attr_name=by_status["shardAttribute"])

    class Orders:
        def place(self, order_id: str, status: str, created_at: str) -> None:
            key, shard = self._key(order_id), self._shard(order_id, status)
            Order(*key, order_id=order_id, status=status, created_at=created_at, shard=shard).save()

        def ship(self, order_id: str) -> None:
            shard = self._shard(order_id, "shipped")
            Order(*self._key(order_id)).update(actions=[Order.status.set("shipped"), Order.shard.set(shard)])

        def annotate(self, order_id: str, note: str) -> None:
            Order(*self._key(order_id)).update(actions=[Order.note.set(note)])

        def newest(self, status: str, cursor: str | None = None) -> tuple[list[Order], str | None]:
            """Returns a page of up to 25 orders. If more orders follow, also returns the cursor of the next page."""
            page = ordered_page(table, by_status, status, descending=True, limit=25, cursor=cursor)
            raw = [{name: TypeSerializer().serialize(of) for name, of in item.items()} for item in page["items"]]
            return [Order.from_raw_data(item) for item in raw], page["cursor"]

        def _key(self, order_id: str) -> tuple[str, str]:
            return f"ORDER#{order_id}", "ORDER"

        def _shard(self, order_id: str, status: str) -> int | str:
            key = dict(zip(by_status["tableKey"], self._key(order_id)))
            return shard_attributes_of_update(by_status, {**key, "status": status})[by_status["shardAttribute"]]

    return Orders()
