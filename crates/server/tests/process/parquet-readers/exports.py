"""Compares exports of a table in all formats, as pyarrow, DuckDB, Polars and Python's csv read them.

Usage: exports.py FOLDER TABLE... FOLDER holds <table>.parquet, <table>.ndjson and <table>.csv. All formats must equal
the NDJSON. Prints the number of rows by table.
"""

import collections
import csv
import datetime
import json
import pathlib
import sys

import duckdb
import polars
import pyarrow
import pyarrow.parquet

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
csv.field_size_limit(1 << 30)


def nanoseconds(text):
    """The nanoseconds since the epoch of a time in NDJSON."""
    whole, fraction = text.removesuffix("Z").split(".")
    seconds = (datetime.datetime.fromisoformat(whole + "+00:00") - EPOCH) // datetime.timedelta(seconds=1)
    return seconds * 10**9 + int(fraction)


def times_as_numbers(row, per_second):
    """The row of NDJSON with its times, and those of its events, as integers."""
    number = lambda text: None if text is None else nanoseconds(text) // (10**9 // per_second)
    row = {name: number(value) if name in ("time", "observed_time", "start_time", "end_time") else value for name, value in row.items()}
    if "events" in row:
        row["events"] = [{**event, "time": number(event["time"])} for event in row["events"]]
    return row


def canonical(rows):
    return collections.Counter(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows)


def numbered(kind):
    """The type with times as integers."""
    if pyarrow.types.is_timestamp(kind):
        return pyarrow.int64()
    if pyarrow.types.is_list(kind):
        return pyarrow.list_(kind.value_field.with_type(numbered(kind.value_type)))
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([kind.field(n).with_type(numbered(kind.field(n).type)) for n in range(kind.num_fields)])
    return kind


def with_pyarrow(path):
    table = pyarrow.parquet.read_table(path)
    assert table.schema.field("time").type == pyarrow.timestamp("ns", "UTC"), table.schema.field("time")
    schema = pyarrow.schema([field.with_type(numbered(field.type)) for field in table.schema])
    maps = [field.name for field in schema if pyarrow.types.is_map(field.type)]
    for row in table.cast(schema).to_pylist():
        for name in maps:
            row[name] = dict(row[name])
        for name in ("events", "links"):
            for one in row.get(name, []):
                one["attributes"] = dict(one["attributes"])
        yield row


def with_polars(path):
    frame = polars.read_parquet(path)
    assert frame.schema["time"] == polars.Datetime("ns", "UTC"), frame.schema["time"]
    times = [name for name, kind in frame.schema.items() if isinstance(kind, polars.Datetime)]
    frame = frame.with_columns(polars.col(name).dt.epoch("ns") for name in times)
    if "events" in frame.columns:
        as_number = polars.element().struct.with_fields(polars.field("time").dt.epoch("ns"))
        frame = frame.with_columns(polars.col("events").list.eval(as_number))
    # Polars returns maps as dictionaries since 2.1, and as lists of pairs before.
    pairs = lambda value: value if isinstance(value, dict) else {pair["key"]: pair["value"] for pair in value}
    for row in frame.iter_rows(named=True):
        for name in ("attributes", "resource", "event_attributes", "scope_attributes"):
            if name in row:
                row[name] = pairs(row[name])
        for name in ("events", "links"):
            for one in row.get(name, []):
                one["attributes"] = pairs(one["attributes"])
        yield row


def with_duckdb(path):
    answer = duckdb.connect().execute("SET TimeZone = 'UTC'").execute("SELECT * FROM read_parquet(?)", [str(path)])
    names = [column[0] for column in answer.description]
    microseconds = lambda value: None if value is None else (value - EPOCH) // datetime.timedelta(microseconds=1)
    for values in answer.fetchall():
        row = dict(zip(names, values))
        for name in ("time", "observed_time", "start_time", "end_time"):
            if name in row:
                row[name] = microseconds(row[name])
        for event in row.get("events", []):
            event["time"] = microseconds(event["time"])
        yield row


def with_csv(path, rows):
    """Cells as the values of NDJSON that they stand for."""
    with open(path, newline="", encoding="utf-8") as file:
        for cells, row in zip(csv.DictReader(file), rows, strict=True):
            for name, cell in cells.items():
                value = row[name]
                if value is None:
                    found = None if cell == "" else cell
                elif isinstance(value, str):
                    found = cell
                elif isinstance(value, float):
                    found = float(cell)
                else:
                    found = json.loads(cell)
                assert found == value, f"CSV has {cell!r} for {name}, NDJSON {value!r}"


def main(folder, *tables):
    counts = {}
    for table in tables:
        path = pathlib.Path(folder, f"{table}.parquet")
        lines = path.with_suffix(".ndjson").read_text().split("\n")[:-1]
        rows = [json.loads(line) for line in lines]
        counts[table] = len(rows)
        with_csv(path.with_suffix(".csv"), rows)
        for read, per_second in ((with_pyarrow, 10**9), (with_polars, 10**9), (with_duckdb, 10**6)):
            expected = canonical(times_as_numbers(row, per_second) for row in rows)
            found = canonical(read(path))
            missing, beyond = expected - found, found - expected
            assert not missing and not beyond, (
                f"{read.__name__} reads {table} otherwise: NDJSON has {next(iter(missing), None)}, "
                f"Parquet {next(iter(beyond), None)}"
            )
    print(json.dumps(counts))


main(*sys.argv[1:])
