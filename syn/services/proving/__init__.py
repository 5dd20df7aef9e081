"""Evidence for `syn verify`, collected; and what a verification leaves behind."""
