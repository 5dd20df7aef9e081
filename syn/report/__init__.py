"""A report as JSON, text, SARIF, HTML, in-toto Statement and SLSA summary (docs/formats/report.md).

Pure functions from `syn.model.report.Report` to bytes and text. Signing is the caller's.
"""
