"""One module per command; its file name is its name."""
