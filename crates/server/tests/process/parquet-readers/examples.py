"""Runs the SQL of a document with DuckDB in the current folder. Usage: examples.py DOCUMENT. Prints rows by example."""

import json
import pathlib
import re
import sys

import duckdb

examples = re.findall(r"^```sql\n(.*?)^```", pathlib.Path(sys.argv[1]).read_text(), re.M | re.S)
print(json.dumps([[list(map(str, row)) for row in duckdb.connect().execute(sql).fetchall()] for sql in examples]))
