"""Prints the first page of jobs with a status, in the order of their creation: page.py STATUS COUNT.

Waits until the page has COUNT jobs, because the keeper adds a new job to the index a moment after its write.
"""

import json
import os
import sys
import time

import boto3

status, count = sys.argv[1], int(sys.argv[2])
request = json.dumps({"index": "byStatus", "value": status, "limit": 25})
page: dict = {"items": []}
until = time.monotonic() + 30
while len(page["items"]) != count and time.monotonic() < until:
    time.sleep(0.1)
    answer = boto3.client("lambda").invoke(FunctionName=os.environ["QUERY"], Payload=request)
    page = json.load(answer["Payload"])
for job in page["items"]:
    print(status, job["createdAt"], job["jobId"])
