"""Facts: from the bytes of a Markdown file to values, and back by the smallest edit.

The only home of markdown-it-py and PyYAML. Pure: bytes and values in, values out.
"""
