"""Synapse: git-native memory for agents that proves it was not silently corrupted."""

__version__ = "0.1.0"
