"""A verdict as JSON, text, SARIF, HTML, and signed envelopes."""
