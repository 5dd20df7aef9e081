"""`syn list`."""

from syn.cli.items import render_items
from syn.cli.reading import read_command

app = read_command("list", render_items)
