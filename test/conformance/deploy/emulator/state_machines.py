"""Runs state machines that call the functions of this server. They wait one second in place of ten seconds."""
import io
import json
import uuid

from moto.awslambda.utils import get_backend
from moto.stepfunctions import models
from moto.stepfunctions.models import StateMachine
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.models import StepFunctionsParserBackend, stepfunctions_parser_backends

ACCOUNT, REGION = "123456789012", "us-east-1"


class Functions:
    """The part of a Lambda client that the interpreter calls."""

    def invoke(self, FunctionName, Payload, **_):
        headers = {}
        payload = get_backend(ACCOUNT, REGION).get_function(FunctionName).invoke(Payload, {}, headers)
        error = headers.get("x-amz-function-error")
        return {"StatusCode": 200, "Payload": io.BytesIO(payload), **({"FunctionError": error} if error else {})}


def install():
    # The state machines of a stack must be in the backend that can execute them.
    models.stepfunctions_backends = stepfunctions_parser_backends
    lambda_eval_utils.boto_client_for = lambda **_: Functions()
    start = StepFunctionsParserBackend.start_execution

    # Without a name, moto names each execution "None", and rejects the second execution.
    def start_with_name(backend, state_machine_arn, name=None, *rest, **more):
        return start(backend, state_machine_arn, name or str(uuid.uuid4()), *rest, **more)

    StepFunctionsParserBackend.start_execution = start_with_name
    create = StateMachine.create_from_cloudformation_json.__func__

    def impatient(cls, resource_name, cloudformation_json, *rest, **more):
        properties = cloudformation_json["Properties"]
        definition = json.loads(properties["DefinitionString"])
        for state in definition["States"].values():
            for retry in state.get("Retry", []):
                retry["IntervalSeconds"] = 1
        properties["DefinitionString"] = json.dumps(definition)
        return create(cls, resource_name, cloudformation_json, *rest, **more)

    StateMachine.create_from_cloudformation_json = classmethod(impatient)
