"""Contributor Insights of DynamoDB, which moto lacks.

UpdateContributorInsights stores the mode of a table or an index. DescribeContributorInsights lists the rules of this mode.
GetInsightRuleReport adds up the values that a test has put with PutMetricData into the namespace "Keys", with the dimensions
Rule and Key, where Key is a list of key values as JSON.

Each response must conform to the service model of AWS, which botocore contains.
"""
import json
import re
import time
from collections import defaultdict

import botocore.session
from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.responses import ActionResult
from moto.dynamodb.responses import DynamoHandler

#: Rules of partition keys, and rules of items. Source: the DynamoDB developer guide, "CloudWatch Contributor Insights for DynamoDB rules".
PARTITION_KEY_RULES = {"ACCESSED_AND_THROTTLED_KEYS": ("PKC", "PKT"), "THROTTLED_KEYS": ("PKT",)}
ITEM_RULES = {"ACCESSED_AND_THROTTLED_KEYS": ("SKC", "SKT"), "THROTTLED_KEYS": ("SKT",)}

settings = {}
models = botocore.session.get_session()


def install():
    DynamoHandler.update_contributor_insights = update
    DynamoHandler.describe_contributor_insights = describe
    CloudWatchResponse.get_insight_rule_report = report
    wrong = {"ContributorInsightsStatus": "ON", "ContributorInsightsRuleList": ["-"], "Rules": []}
    assert len(problems("dynamodb", "DescribeContributorInsights", wrong)) == 3


def update(handler):
    mode = handler.body.get("ContributorInsightsMode", "ACCESSED_AND_THROTTLED_KEYS")
    settings[resource(handler)] = (mode, int(time.time() * 1000))
    result = {**names(handler), "ContributorInsightsStatus": "ENABLED", "ContributorInsightsMode": mode}
    return conforming("dynamodb", "UpdateContributorInsights", result)


def describe(handler):
    table = handler.dynamodb_backend.get_table(handler.body["TableName"])
    mode, created = settings.get(resource(handler), (None, 0))
    result = {**names(handler), "ContributorInsightsStatus": "DISABLED" if mode is None else "ENABLED"}
    if mode is not None:
        owner = next((each for each in table.global_indexes if each.name == handler.body.get("IndexName")), table)
        has_sort_key = any(element["KeyType"] == "RANGE" for element in owner.schema)
        kinds = PARTITION_KEY_RULES[mode] + (ITEM_RULES[mode] if has_sort_key else ())
        name = "-".join(names(handler).values())
        rules = ["DynamoDBContributorInsights-{}-{}-{}".format(kind, name, created) for kind in kinds]
        result.update(ContributorInsightsMode=mode, ContributorInsightsRuleList=rules, LastUpdateDateTime=created / 1000)
    return conforming("dynamodb", "DescribeContributorInsights", result)


def names(handler):
    return {name: handler.body[name] for name in ("TableName", "IndexName") if name in handler.body}


def resource(handler):
    return (handler.current_account, handler.region, *names(handler).values())


def report(handler):
    rule, most = handler._get_param("RuleName"), int(handler._get_param("MaxContributorCount", 10))
    sums = defaultdict(float)
    for datum in handler.cloudwatch_backend.metric_data:
        dimensions = {dimension.name: dimension.value for dimension in datum.dimensions}
        if datum.namespace == "Keys" and dimensions.get("Rule") == rule:
            sums[dimensions["Key"]] += datum.value
    busiest = sorted(sums.items(), key=lambda each: -each[1])[:most]
    result = {
        "KeyLabels": [],
        "AggregationStatistic": "SUM",
        "AggregateValue": sum(sums.values()),
        "ApproximateUniqueCount": len(sums),
        "Contributors": [
            {"Keys": json.loads(key), "ApproximateAggregateValue": value, "Datapoints": []} for key, value in busiest
        ],
    }
    return conforming("cloudwatch", "GetInsightRuleReport", result)


def conforming(service, operation, result):
    found = problems(service, operation, result)
    if found:
        raise AssertionError("; ".join(found))
    return ActionResult(result)


def problems(service, operation, result):
    shape = models.get_service_model(service).operation_model(operation).output_shape
    return list(differences(shape, result, operation))


def differences(shape, value, path):
    """The differences between a value and a shape of a service model: members, types, ranges, patterns and enums."""
    if shape.type_name == "structure":
        for name in set(shape.required_members) - set(value):
            yield "{} lacks {}".format(path, name)
        for name, member in value.items():
            if name in shape.members:
                yield from differences(shape.members[name], member, "{}.{}".format(path, name))
            else:
                yield "{} has no member {}".format(path, name)
        return
    if shape.type_name == "list":
        for member in value:
            yield from differences(shape.member, member, path)
    types = {"list": list, "string": str, "integer": int, "long": int}.get(shape.type_name, (int, float))
    size = len(value) if isinstance(value, (list, str)) else value
    limits = shape.metadata
    if not isinstance(value, types) or not limits.get("min", size) <= size <= limits.get("max", size):
        yield "{} is {!r}".format(path, value)
    elif isinstance(value, str) and shape.enum and value not in shape.enum:
        yield "{} is {!r}, and not one of {}".format(path, value, shape.enum)
    elif isinstance(value, str) and not re.fullmatch(limits.get("pattern", ".*"), value):
        yield "{} does not match {}: {!r}".format(path, limits["pattern"], value)
