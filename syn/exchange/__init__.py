"""Other programs' notes and memories: their files to notes, and facts to their files.

Pure: bytes and values in, values out. One module per format; `formats` lists them.
"""
