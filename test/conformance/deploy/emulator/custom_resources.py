"""Creates, updates and deletes custom resources: sends a request to the function, and waits for the response.

moto only creates custom resources, and does not wait for the response.
"""
import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from moto.awslambda.utils import get_backend
from moto.cloudformation.custom_model import CustomModel

#: The seconds that CloudFormation waits for a response, unless `ServiceTimeout` is shorter. Source: its user guide, response timeout.
LONGEST_SECONDS = 3600

#: The maximum size of a response. Source: the CloudFormation user guide, custom resource response objects.
MAX_BYTES = 4096

responses = {}


def start_receiving():
    class Receiver(BaseHTTPRequestHandler):
        def do_PUT(self):
            request_id, body = self.path.strip("/"), self.rfile.read(int(self.headers["content-length"]))
            waiting = responses[request_id]
            too_long = {"Status": "FAILED", "Reason": "Response object is too long."}
            waiting["response"] = json.loads(body) if len(body) <= MAX_BYTES else too_long
            waiting["event"].set()
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    return receiver.server_port


def ask(resource, request_type, properties, account_id, region_name, **more):
    """Sends a request to the function of a custom resource, and stores the result in the resource."""
    request_id = str(uuid.uuid4())
    waiting = responses[request_id] = {"event": threading.Event(), "response": None}
    event = {
        "RequestType": request_type,
        "ServiceToken": properties["ServiceToken"],
        "ResponseURL": f"https://responses/{request_id}",
        "StackId": resource.stack_id,
        "RequestId": request_id,
        "LogicalResourceId": resource.logical_id,
        "ResourceType": resource.resource_type,
        "ResourceProperties": texts(properties),
        **more,
    }
    function = get_backend(account_id, region_name).get_function(properties["ServiceToken"])

    def invoke():
        payload, failed, _ = function._invoke_lambda(event)
        # Without this response, CloudFormation would not know that the function has failed, and would wait for an hour.
        if failed:
            waiting["response"] = {"Status": "FAILED", "Reason": payload}
            waiting["event"].set()

    # The timeout begins when the function has ended, because its process starts more slowly than a function of Lambda.
    invocation = threading.Thread(target=invoke, daemon=True)
    invocation.start()
    invocation.join()
    if not waiting["event"].wait(int(properties.get("ServiceTimeout", LONGEST_SECONDS))):
        raise Silent(resource, properties)
    response = responses.pop(request_id)["response"]
    if response["Status"] != "SUCCESS":
        raise Refused(resource, properties, response)
    if request_type == "Delete":
        return
    if request_type == "Update" and response["PhysicalResourceId"] != resource.resource_name:
        resource.left_behind[resource.resource_name] = resource.properties
    resource.properties = properties
    resource.resource_name = response["PhysicalResourceId"]
    resource.set_data(response.get("Data") or {})
    resource.no_echo = response.get("NoEcho") in (True, "true")


class Silent(RuntimeError):
    """The function has sent no response. The function may have created a resource, so a rollback deletes the resource. CloudFormation
    generates its id."""

    def __init__(self, resource, properties):
        super().__init__(f"{resource.logical_id}: CloudFormation did not receive a response from your Custom Resource")
        self.created = None
        if resource.resource_name is None:
            resource.properties, resource.resource_name = properties, f"{resource.logical_id}-{uuid.uuid4()}"
            self.created = resource


class Refused(RuntimeError):
    """The function has responded with FAILED. If the response has an id, a rollback deletes the resource, although its creation failed."""

    def __init__(self, resource, properties, response):
        super().__init__(f"{resource.logical_id}: {response['Reason']}")
        self.created = None
        if resource.resource_name is None and "PhysicalResourceId" in response:
            resource.properties, resource.resource_name = properties, response["PhysicalResourceId"]
            self.created = resource


def texts(value):
    """Converts every number and boolean to text, as CloudFormation does."""
    if isinstance(value, dict):
        return {name: texts(part) for name, part in value.items()}
    if isinstance(value, list):
        return [texts(part) for part in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def install():
    def create(cls, resource_name, cloudformation_json, account_id, region_name, LogicalId, StackId, ResourceType):
        resource = CustomModel(region_name, "", LogicalId, None)
        resource.stack_id, resource.resource_type = StackId, ResourceType
        #: The properties of earlier versions of the resource, by physical id. These versions are not deleted yet.
        resource.left_behind = {}
        resource.no_echo = False
        ask(resource, "Create", cloudformation_json["Properties"], account_id, region_name)
        return resource

    def update(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
        more = {
            "PhysicalResourceId": original_resource.resource_name,
            "OldResourceProperties": texts(original_resource.properties),
        }
        ask(original_resource, "Update", cloudformation_json["Properties"], account_id, region_name, **more)
        return original_resource

    def delete(self, account_id, region_name):
        ask(self, "Delete", self.properties, account_id, region_name, PhysicalResourceId=self.resource_name)

    def clean_up(self, account_id, region_name):
        for left_id, properties in self.left_behind.items():
            if left_id != self.resource_name:
                ask(self, "Delete", properties, account_id, region_name, PhysicalResourceId=left_id)
        self.left_behind = {}

    CustomModel.clean_up = clean_up
    CustomModel.create_from_cloudformation_json = classmethod(create)
    CustomModel.update_from_cloudformation_json = classmethod(update)
    CustomModel.delete = delete
