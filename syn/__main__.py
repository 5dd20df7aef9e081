"""`python -m syn`."""

from syn.cli.main import run

run()
