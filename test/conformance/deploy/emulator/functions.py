"""Runs Lambda functions without Docker: each invocation is a Node.js process in a folder with the deployed code."""
import io
import json
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

from moto.awslambda.models import LambdaFunction
from moto.awslambda.utils import get_backend

RUN = Path(__file__).parent / "run-function.cjs"


def install(node, node_modules, endpoint, responses_port):
    unpacked = tempfile.TemporaryDirectory(prefix="even-shards-functions-")

    def folder_of(function):
        folder = Path(unpacked.name) / function.code_sha_256.replace("/", "_")
        if not folder.exists():
            zipfile.ZipFile(io.BytesIO(function.code_bytes)).extractall(folder)
            # moto gives inline code of every language this name.
            inline = folder / "index.py"
            if inline.exists():
                inline.rename(folder / "index.js")
        return folder

    def run(function, event=None):
        answer = tempfile.NamedTemporaryFile(suffix=".json")
        environment = {
            **function.environment_vars,
            "_HANDLER": function.handler,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_REGION": function.region,
            "AWS_LAMBDA_FUNCTION_NAME": function.function_name,
            "AWS_LAMBDA_FUNCTION_TIMEOUT": str(function.timeout),
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_size),
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            # The packages of the Lambda runtime, which the provider framework of the CDK imports.
            "NODE_PATH": node_modules,
            "PATH": os.environ["PATH"],
            "RESPONSES_PORT": str(responses_port),
        }
        done = subprocess.run(
            [node, RUN, answer.name],
            cwd=folder_of(function),
            env=environment,
            input=json.dumps(event).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=int(function.timeout),
        )
        logs = done.stdout.decode()
        function.logs_backend.ensure_log_group(function.logs_group_name)
        function.save_logs(logs)
        payload = Path(answer.name).read_text() or json.dumps({"errorType": "Runtime.ExitError", "errorMessage": logs})
        return payload, done.returncode != 0, logs

    def delete(function, account_id, region_name):
        get_backend(account_id, region_name).delete_function(function.function_name, None)

    LambdaFunction._invoke_lambda = run
    LambdaFunction.delete = delete
