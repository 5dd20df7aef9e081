"""The parts of `syn image`; `syn.cli.commands.image` puts them together."""
