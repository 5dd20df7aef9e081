"""The disposable index: rows projected from facts, their manifest, and the SQLite file.

Pure: `rows`, `lines`, `project`, `resolve`, `derive`, `words`, `manifest`, `compare`, `inputs`,
`query`. `store` is the only home of SQLite (docs/formats/index.md, ADR 0014 to 0016).
"""
