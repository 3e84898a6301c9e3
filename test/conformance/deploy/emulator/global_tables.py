"""Emulates AWS::DynamoDB::GlobalTable with one replica by a table of moto."""
from moto.core.common_models import CloudFormationModel
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import Table


class GlobalTable(CloudFormationModel):
    """moto finds this class among the subclasses of CloudFormationModel. Its class methods create and update a `Table`."""

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

    @classmethod
    def update_from_cloudformation_json(
        cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name
    ):
        properties = cloudformation_json["Properties"]
        before = {index.name for index in original_resource.global_indexes}
        after = {index["IndexName"]: index for index in properties.get("GlobalSecondaryIndexes", [])}
        changes = [{"Create": index} for name, index in after.items() if name not in before]
        changes += [{"Delete": {"IndexName": name}} for name in before - after.keys()]
        # DynamoDB creates or deletes at most one index in an update of a table, so CloudFormation has the same limit.
        if len(changes) > 1:
            raise ValueError("Cannot perform more than one GSI creation or deletion in a single update")
        original_resource.attr = properties["AttributeDefinitions"]
        dynamodb_backends[account_id][region_name].update_table_global_indexes(original_resource, changes)
        return original_resource
