"""Where pure functions of bytes run: here, in a pool of processes, on a Dask cluster (ADR 0032)."""
