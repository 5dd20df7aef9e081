"""Repair of a workspace: a plan that can be read, carried out with a backup, and checked again."""
