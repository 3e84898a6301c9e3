"""Executes change sets in the order of the dependencies between resources, and rolls back if a step fails.

moto applies a change set in any order and within the request, and has no rollback.
"""
import copy
import threading

from moto.cloudformation.custom_model import CustomModel
from moto.cloudformation.exceptions import CloudFormationError, ValidationError
from moto.cloudformation.models import CloudFormationBackend, Stack
from moto.cloudformation.parsing import (
    OutputMap,
    clean_json,
    parse_and_create_resource,
    parse_and_update_resource,
    resource_class_from_type,
)


#: CloudFormation shows this text in place of the data of a custom resource with NoEcho.
MASK = "*****"


class ChangeSetNotFound(CloudFormationError):
    code = "ChangeSetNotFound"


class NotEmulated:
    """A resource of a type that moto does not support. It has a name and attributes, and does nothing."""

    def __init__(self, logical_id):
        self.logical_resource_id = self.physical_resource_id = logical_id

    def get_cfn_attribute(self, name):
        return f"{self.logical_resource_id}.{name}"

    def is_created(self):
        return True

    def delete(self, *_):
        pass


def references(value):
    """Returns the logical ids and other names to which a part of a template refers."""
    if isinstance(value, list):
        return set().union(*map(references, value))
    if not isinstance(value, dict):
        return set()
    found = references(list(value.values()))
    if "Ref" in value:
        found.add(value["Ref"])
    if "Fn::GetAtt" in value:
        found.add(value["Fn::GetAtt"][0])
    if "Fn::Sub" in value:
        text = value["Fn::Sub"] if isinstance(value["Fn::Sub"], str) else value["Fn::Sub"][0]
        found |= {part.split("}")[0].split(".")[0] for part in text.split("${")[1:]}
    return found


def in_order(resources):
    """Returns the logical ids. A resource comes after the resources that it depends on."""
    ordered = []

    def visit(name):
        if name in ordered:
            return
        depends_on = resources[name].get("DependsOn", [])
        needed = references(resources[name]) | set([depends_on] if isinstance(depends_on, str) else depends_on)
        for other in sorted(needed & resources.keys() - {name}):
            visit(other)
        ordered.append(name)

    for name in resources:
        visit(name)
    return ordered


class Deployment:
    """The update of a stack from its current template to a new template."""

    def __init__(self, stack, template, parameters, log):
        self.stack, self.map, self.log = stack, stack.resource_map, log
        self.before, self.after = self.map._resource_json_map, template["Resources"]
        self.template_before, self.template = self.map._template, template
        self.parameters_before, self.parameters = self.map.input_parameters, parameters
        self.environment = (stack.account_id, stack.region_name)
        self.kind = "UPDATE" if self.before else "CREATE"
        #: The last properties of each resource, with all references resolved.
        self.given = stack.__dict__.setdefault("given", {})

    def run(self):
        self.use(self.template, self.parameters)
        created, updated = [], []
        try:
            for name in in_order(self.after):
                # Source: the CloudFormation user guide, troubleshooting, update of a resource type.
                if name in self.before and self.before[name]["Type"] != self.after[name]["Type"]:
                    raise ValueError("Update of resource type is not permitted")
                if name not in self.before:
                    created.append(name)
                    self.create(name)
                elif self.changes(name):
                    updated.append((name, self.given[name]))
                    self.update(name, self.after[name])
        except Exception as failure:
            self.log(f"  {name} FAILED: {failure!s:.300}".splitlines()[0])
            if getattr(failure, "created", None):
                self.map._parsed_resources[name] = failure.created
            return self.roll_back(created, updated)
        if self.kind == "UPDATE":
            self.status("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
        self.clean_up(updated)
        for name in reversed(in_order(self.before)):
            if name not in self.after:
                self.remove(name, self.before[name])
        self.status(f"{self.kind}_COMPLETE")

    def roll_back(self, created, updated):
        prefix = "ROLLBACK" if self.kind == "CREATE" else "UPDATE_ROLLBACK"
        self.status(f"{prefix}_IN_PROGRESS")
        try:
            for name, given in reversed(updated):
                self.update(name, {**self.before[name], "Properties": given})
            if self.kind == "UPDATE":
                self.status("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")
            self.clean_up(updated)
            for name in reversed(created):
                self.remove(name, self.after[name])
        except Exception as failure:
            self.log(f"  {name} FAILED: {failure!s:.300}")
            return self.status(f"{prefix}_FAILED")
        self.use(self.template_before, self.parameters_before)
        self.status(f"{prefix}_COMPLETE")

    def clean_up(self, updated):
        """Deletes the replaced resources, or their replacements after a rollback."""
        for name, _ in updated:
            resource = self.map._parsed_resources[name]
            if isinstance(resource, CustomModel):
                resource.clean_up(*self.environment)

    def use(self, template, parameters):
        self.map._template, self.map._resource_json_map = template, template.get("Resources", {})
        self.map.input_parameters = parameters
        self.map.load_mapping()
        self.map.load_parameters()
        self.map.load_conditions()

    def resolved(self, name):
        return clean_json(copy.deepcopy(self.after[name].get("Properties", {})), self.map)

    def exists(self, name):
        condition = self.after[name].get("Condition")
        return not condition or self.map.lazy_condition_map[condition]

    def changes(self, name):
        return name in self.given and self.resolved(name) != self.given[name]

    def create(self, name):
        if not self.exists(name):
            return
        given = self.resolved(name)
        kind = self.after[name]["Type"]
        if resource_class_from_type(kind) is None:
            self.log(f"  {kind} {name}: not emulated")
            self.map._parsed_resources[name] = NotEmulated(name)
        else:
            self.log(f"  {kind} {name}: created")
            definition = copy.deepcopy(self.after[name])
            self.map._parsed_resources[name] = parse_and_create_resource(name, definition, self.map, *self.environment)
        self.given[name] = given

    def update(self, name, definition):
        kind = definition["Type"]
        given = clean_json(copy.deepcopy(definition.get("Properties", {})), self.map)
        if not isinstance(self.map._parsed_resources[name], NotEmulated):
            self.log(f"  {kind} {name}: updated")
            updated = parse_and_update_resource(name, copy.deepcopy(definition), self.map, *self.environment)
            if updated is None:
                raise NotImplementedError(f"moto cannot update {kind}")
            self.map._parsed_resources[name] = updated
        self.given[name] = given

    def remove(self, name, definition):
        resource = self.map._parsed_resources.pop(name, None)
        self.given.pop(name, None)
        policy = definition.get("DeletionPolicy", "Delete")
        if resource is None:
            return
        if policy.startswith("Retain"):
            self.log(f"  {definition['Type']} {name}: retained")
            return
        self.log(f"  {definition['Type']} {name}: deleted")
        self.map._delete_resource(resource, definition)

    def take_down(self):
        try:
            for name in reversed(in_order(self.before)):
                self.remove(name, self.before[name])
        except Exception as failure:
            self.log(f"  {name} FAILED: {failure!s:.300}")
            return self.status("DELETE_FAILED")
        self.status("DELETE_COMPLETE")

    def status(self, status):
        if is_deployed(status):
            self.stack.output_map = self.outputs()
        self.log(f"{self.stack.name}: {status}")
        self.stack.status = status
        self.stack._add_stack_event(status)


    def outputs(self):
        """Returns the outputs with masked NoEcho data. Source: the user guide, custom resource response objects, NoEcho."""
        outputs = OutputMap(self.map, self.map._template, self.stack.stack_id)
        masked = {one: one.data for one in self.map._parsed_resources.values() if getattr(one, "no_echo", False)}
        for resource, data in masked.items():
            resource.data = {name: MASK for name in data}
        for name in outputs:
            outputs[name]
        for resource, data in masked.items():
            resource.data = data
        return outputs


def install(log):
    def execute(backend, change_set_name, stack_name=None):
        change_set = backend.describe_change_set(change_set_name)
        stack = backend.stacks[change_set.stack_id]
        change_set.execution_status = "EXECUTE_IN_PROGRESS"
        parameters = without_values_of_parameters(change_set)
        deployment = Deployment(stack, change_set.template_dict, parameters, log)
        before = (stack.template, stack.parameters)

        def run():
            try:
                deployment.run()
            except Exception as fault:
                log(f"fault of the emulator: {fault!r}")
                deployment.status(f"{deployment.kind}_FAILED")
            done = stack.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE")
            stack.template, stack.parameters = (change_set.template, parameters) if done else before
            change_set.execution_status = "EXECUTE_COMPLETE" if done else "EXECUTE_FAILED"

        # Sets the status before the response, so that the next request for the status does not return the previous
        # status.
        deployment.status(f"{deployment.kind}_IN_PROGRESS")
        in_background(run)

    def delete(backend, name_or_id):
        [stack] = backend.describe_stacks(name_or_id)
        deployment = Deployment(stack, {"Resources": {}}, {}, log)

        def run():
            deployment.take_down()
            if stack.status == "DELETE_COMPLETE":
                backend.deleted_stacks[stack.stack_id] = backend.stacks.pop(stack.stack_id)

        deployment.status("DELETE_IN_PROGRESS")
        in_background(run)

    def forget(backend, change_set_name):
        named = [id for id, one in backend.change_sets.items() if change_set_name in (id, one.change_set_name)]
        for change_set_id in named:
            del backend.change_sets[change_set_id]

    describe = CloudFormationBackend.describe_change_set

    def describe_or_say_that_it_is_gone(backend, change_set_name):
        try:
            return describe(backend, change_set_name)
        except ValidationError:
            raise ChangeSetNotFound(f"ChangeSet [{change_set_name}] does not exist") from None

    outputs = Stack.outputs.fget
    CloudFormationBackend.delete_change_set = forget
    CloudFormationBackend.describe_change_set = describe_or_say_that_it_is_gone
    CloudFormationBackend.execute_change_set = execute
    CloudFormationBackend.delete_stack = delete
    # Without this property, reading the outputs would create the resources to which the outputs refer.
    Stack.outputs = property(lambda stack: outputs(stack) if is_deployed(stack.status) else None)


def without_values_of_parameters(change_set):
    """Leaves out the parameters of the Parameter Store, because moto would use their previous value as the name of the parameter."""
    declared = change_set.template_dict.get("Parameters", {})
    stored = {name for name, parameter in declared.items() if parameter["Type"].startswith("AWS::SSM::Parameter::")}
    return {name: value for name, value in change_set.parameters.items() if name not in stored}


def is_deployed(status):
    return status.endswith("_COMPLETE") and status not in ("DELETE_COMPLETE", "ROLLBACK_COMPLETE")


def in_background(work):
    threading.Thread(target=work, daemon=True).start()
