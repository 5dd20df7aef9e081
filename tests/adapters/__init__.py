"""Suites that others wrote, run against syn."""
