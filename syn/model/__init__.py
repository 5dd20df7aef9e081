"""Frozen values that every layer speaks. No behaviour beyond their own shape."""
