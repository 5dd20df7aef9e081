"""The command line: flags, a service, a rendering. The only home of typer."""
