"""`python -m syn.mcp.worker DIR`: reads the memory for a server (ADR 0037).

Questions come on stdin and replies go to stdout, one JSON object a line. The workspace is opened at
once, before anybody asks.
"""

from syn.mcp.pipes import claim

if __name__ == "__main__":
    pipes = claim()
    from syn.mcp.start import work

    work(pipes)
