"""Fault injection: one fault at a time into a small published workspace; `make torture`."""
