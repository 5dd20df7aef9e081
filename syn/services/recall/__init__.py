"""From a snapshot to facts that check: listing, projecting, indexing, page-in, answers."""
