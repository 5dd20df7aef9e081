"""`syn get`."""

from syn.cli.items import render_items
from syn.cli.reading import read_command

app = read_command("get", render_items)
