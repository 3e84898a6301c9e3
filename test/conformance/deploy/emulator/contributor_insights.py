"""Contributor Insights of DynamoDB, which moto lacks.

UpdateContributorInsights stores the mode of a table or an index. DescribeContributorInsights lists the rules of this mode.
GetInsightRuleReport adds up the values that a test has put with PutMetricData into the namespace "Keys", with the dimensions
Rule and Key, where Key is a list of key values as JSON.
"""
import json
from collections import defaultdict

from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.responses import ActionResult
from moto.dynamodb.responses import DynamoHandler

KINDS = {"ACCESSED_AND_THROTTLED_KEYS": ("PKC", "PKT", "SKC", "SKT"), "THROTTLED_KEYS": ("PKT", "SKT")}
modes = {}


def install():
    DynamoHandler.update_contributor_insights = update
    DynamoHandler.describe_contributor_insights = describe
    CloudWatchResponse.get_insight_rule_report = report


def resource(handler):
    return (handler.current_account, handler.region, handler.body["TableName"], handler.body.get("IndexName"))


def update(handler):
    modes[resource(handler)] = handler.body.get("ContributorInsightsMode", "ACCESSED_AND_THROTTLED_KEYS")
    return ActionResult({"TableName": handler.body["TableName"], "ContributorInsightsStatus": "ENABLED"})


def describe(handler):
    handler.dynamodb_backend.describe_table(handler.body["TableName"])
    mode = modes.get(resource(handler))
    if mode is None:
        return ActionResult({"ContributorInsightsStatus": "DISABLED"})
    name = "-".join(part for part in resource(handler)[2:] if part)
    rules = ["DynamoDBContributorInsights-{}-{}".format(kind, name) for kind in KINDS[mode]]
    status = {"ContributorInsightsStatus": "ENABLED", "ContributorInsightsMode": mode}
    return ActionResult({**status, "ContributorInsightsRuleList": rules})


def report(handler):
    rule, most = handler._get_param("RuleName"), int(handler._get_param("MaxContributorCount", 10))
    sums = defaultdict(float)
    for datum in handler.cloudwatch_backend.metric_data:
        dimensions = {dimension.name: dimension.value for dimension in datum.dimensions}
        if datum.namespace == "Keys" and dimensions.get("Rule") == rule:
            sums[dimensions["Key"]] += datum.value
    busiest = sorted(sums.items(), key=lambda each: -each[1])[:most]
    contributors = [
        {"Keys": json.loads(key), "ApproximateAggregateValue": value, "Datapoints": []} for key, value in busiest
    ]
    return ActionResult(
        {
            "KeyLabels": [],
            "AggregationStatistic": "Sum",
            "AggregateValue": sum(sums.values()),
            "ApproximateUniqueCount": len(sums),
            "Contributors": contributors,
        }
    )
