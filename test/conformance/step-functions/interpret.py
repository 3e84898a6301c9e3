"""Runs a state machine with moto's interpreter of the Amazon States Language, which comes from LocalStack.

    python interpret.py <url> < '{"definition": {...}, "input": {...}, "bucket": "..."}'

For each task that invokes a function, sends {"function": ARN, "payload": {...}} to the URL as JSON. The response is the payload,
or {"errorType": ..., "errorMessage": ...} with the status 500. Prints {"status", "output", "error", "cause", "objects"} as JSON.
"objects" has the objects in the bucket, by key.
"""
import io
import json
import sys
import time
import urllib.error
import urllib.request

import boto3
from moto import mock_aws
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils

URL = sys.argv[1]
REGION = "us-east-1"
ROLE = "arn:aws:iam::123456789012:role/state-machine"


class FunctionsByHttp:
    """The part of a Lambda client that the interpreter calls."""

    def invoke(self, FunctionName, Payload, **_):
        body = json.dumps({"function": FunctionName, "payload": json.loads(Payload)}).encode()
        request = urllib.request.Request(URL, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request) as response:
                return {"StatusCode": 200, "Payload": io.BytesIO(response.read())}
        except urllib.error.HTTPError as error:
            return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": io.BytesIO(error.read())}


lambda_eval_utils.boto_client_for = lambda **_: FunctionsByHttp()
work = json.load(sys.stdin)

with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
    bucket = boto3.resource("s3", REGION, aws_access_key_id="local", aws_secret_access_key="local").Bucket(work["bucket"])
    bucket.create()
    client = boto3.client("stepfunctions", REGION, aws_access_key_id="local", aws_secret_access_key="local")
    machine = client.create_state_machine(name="machine", definition=json.dumps(work["definition"]), roleArn=ROLE)
    started = client.start_execution(stateMachineArn=machine["stateMachineArn"], input=json.dumps(work["input"]))
    while True:
        execution = client.describe_execution(executionArn=started["executionArn"])
        if execution["status"] != "RUNNING":
            break
        time.sleep(0.1)
    objects = {each.key: each.get()["Body"].read().decode() for each in bucket.objects.all()}

print(
    json.dumps(
        {
            "status": execution["status"],
            "output": json.loads(execution.get("output", "null")),
            "error": execution.get("error"),
            "cause": execution.get("cause"),
            "objects": objects,
        }
    )
)
