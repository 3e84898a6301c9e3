"""Tables: updates of a template, replicas and streams. moto cannot update a table of a template, and has no AWS::DynamoDB::GlobalTable.

Requests to DynamoDB are processed one at a time, because moto checks the condition of a write before the write, without a
lock. A mapping does not deliver the stream of a table. moto would invoke the function within the write. The tests deliver
the records with the event source of a local run.
"""
import threading

from moto.core.common_models import CloudFormationModel
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import StreamShard, Table
from moto.dynamodb.responses import DynamoHandler

one_at_a_time = threading.RLock()


def install():
    call, add = DynamoHandler.call_action, StreamShard.add

    def call_alone(handler):
        with one_at_a_time:
            return call(handler)

    def add_without_delivery(shard, old, new):
        mappings, shard.table.lambda_event_source_mappings = shard.table.lambda_event_source_mappings, {}
        add(shard, old, new)
        shard.table.lambda_event_source_mappings = mappings

    DynamoHandler.call_action = call_alone
    StreamShard.add = add_without_delivery
    Table.update_from_cloudformation_json = classmethod(update)


def update(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
    properties = cloudformation_json["Properties"]
    before = {index.name for index in original_resource.global_indexes}
    after = {index["IndexName"]: index for index in properties.get("GlobalSecondaryIndexes", [])}
    changes = [{"Create": index} for name, index in after.items() if name not in before]
    changes += [{"Delete": {"IndexName": name}} for name in before - after.keys()]
    # DynamoDB creates or deletes at most one index in an update of a table, so CloudFormation has the same limit.
    if len(changes) > 1:
        raise ValueError("Cannot perform more than one GSI creation or deletion in a single update")
    with one_at_a_time:
        original_resource.attr = properties["AttributeDefinitions"]
        dynamodb_backends[account_id][region_name].update_table_global_indexes(original_resource, changes)
        stream = properties.get("StreamSpecification") or {}
        if stream.get("StreamViewType") != original_resource.stream_specification.get("StreamViewType"):
            original_resource.set_stream_specification(stream)
    return original_resource


class GlobalTable(CloudFormationModel):
    """Emulates a table with one replica. moto finds this class among the subclasses of CloudFormationModel. Its class
    methods create and update a `Table`."""

    @staticmethod
    def cloudformation_name_type():
        return "TableName"

    @staticmethod
    def cloudformation_type():
        return "AWS::DynamoDB::GlobalTable"

    @classmethod
    def has_cfn_attr(cls, attribute):
        return attribute in ("Arn", "StreamArn", "TableId")

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **_):
        properties = {**cloudformation_json["Properties"]}
        [replica] = properties.pop("Replicas")
        properties["DeletionProtectionEnabled"] = replica.get("DeletionProtectionEnabled", False)
        properties.pop("SSESpecification", None)
        return Table.create_from_cloudformation_json(
            resource_name, {"Properties": properties}, account_id, region_name
        )

    update_from_cloudformation_json = classmethod(update)
