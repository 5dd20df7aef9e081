"""The Model Context Protocol server. The only home of the mcp package."""
