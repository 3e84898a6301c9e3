"""Synthesizes the stack of a file: python run_planned.py FILE"""
import runpy
import sys
from pathlib import Path

from aws_cdk import App

stack_class = runpy.run_path(sys.argv[1])[Path(sys.argv[1]).stem]
app = App()
stack_class(app)
app.synth()
print(f"synthesized {stack_class.__name__}")
