"""`make bench`: how long things take, beside git, in one run (design 15)."""
