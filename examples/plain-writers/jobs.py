"""An existing program that writes jobs. It is the same before and after its table becomes a ShardedTable."""

import boto3

jobs = boto3.resource("dynamodb").Table("jobs")


def put(job_id: str, status: str, created_at: str) -> None:
    jobs.put_item(Item={"jobId": job_id, "status": status, "createdAt": created_at})


def finish(job_id: str) -> None:
    jobs.update_item(
        Key={"jobId": job_id},
        UpdateExpression="SET #status = :done",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={":done": "done"},
    )


for hour in (9, 7, 8, 10, 6):
    put(f"job-{hour}", "open", f"2026-01-01T{hour:02}:00Z")
finish("job-8")
jobs.delete_item(Key={"jobId": "job-10"})
put("job-9", "open", "2026-01-01T09:30:00Z")  # replaces the whole item
print("wrote 5 jobs, finished job-8, deleted job-10, replaced job-9")
