"""Git as raw objects that are hashed again when read. The only home of pygit2."""
