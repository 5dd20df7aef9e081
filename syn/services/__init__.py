"""One function per use case; the only place that reads the clock and the environment."""
