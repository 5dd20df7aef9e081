"""Markdown facts: bytes to values and back; home of markdown-it-py and python-frontmatter."""
