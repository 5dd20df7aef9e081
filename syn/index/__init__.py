"""The disposable projection: rows, manifest, check words, and the SQLite store."""
