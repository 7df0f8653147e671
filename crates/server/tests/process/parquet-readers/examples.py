"""Runs the SQL of a document with DuckDB in the current folder. Usage: examples.py DOCUMENT. Prints rows by example."""

import json
import pathlib
import re
import sys

import duckdb

examples = re.findall(r"^```sql\n(.*?)^```", pathlib.Path(sys.argv[1]).read_text(), re.M | re.S)
# Times with a zone can be converted to Python's only with a package of time zones.
as_text = "SELECT COLUMNS(*)::VARCHAR FROM ({})"
rows = [duckdb.connect().execute(as_text.format(sql.strip().rstrip(";"))).fetchall() for sql in examples]
print(json.dumps([[list(row) for row in answer] for answer in rows]))
