"""`python -m syn.mcp [DIR]`: what `syn mcp` runs. Takes the pipes before anything can print."""

from syn.mcp.pipes import claim

if __name__ == "__main__":
    pipes = claim()
    from syn.mcp.start import main

    main(pipes)
