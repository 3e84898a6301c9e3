"""Starts moto's server with the emulators of this folder: python -m emulator.serve <node> <folder of node modules>

Prints {"endpoint": ...} when the server is ready, and then a line for each step of a deployment. Ends when its standard
input ends.
"""
import json
import sys

from moto.core.config import default_user_config
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

from . import (
    contributor_insights,
    custom_resources,
    deployments,
    functions,
    state_machines,
    streams,
    tables,
)

node, node_modules = sys.argv[1:]
default_user_config["stepfunctions"]["execute_state_machine"] = True
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
endpoint = "http://{}:{}".format(*server.get_host_and_port())

functions.install(node, node_modules, endpoint, custom_resources.start_receiving())
custom_resources.install()
state_machines.install()
streams.install()
tables.install()
contributor_insights.install()
deployments.install(log=lambda line: print(line, flush=True))
print(json.dumps({"endpoint": endpoint}), flush=True)
sys.stdin.read()
