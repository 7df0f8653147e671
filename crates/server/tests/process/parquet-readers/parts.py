"""Reads every part of a data directory with pyarrow, DuckDB and Polars and compares every value with the store's answer.

Usage: parts.py PARTS ANSWERS. PARTS is the folder `parts`; ANSWERS holds one file <table>.jsonl per table: a line with the
column names, then one line per row. Cells are strings, see `cell`. Prints how many parts and rows it compared.
"""

import collections
import json
import pathlib
import struct
import sys

import duckdb
import polars
import pyarrow.parquet

ENCODED = ("attributes", "resource")


def with_pyarrow(path):
    table = pyarrow.parquet.read_table(path)
    return table.column_names, zip(*(column.to_pylist() for column in table.columns))


def with_duckdb(path):
    answer = duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(path)])
    return [column[0] for column in answer.description], answer.fetchall()


def with_polars(path):
    frame = polars.read_parquet(path)
    return frame.columns, frame.iter_rows()


READERS = {"pyarrow": with_pyarrow, "duckdb": with_duckdb, "polars": with_polars}


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def pair(key, value):
    """A KeyValue of an OTLP KeyValueList: field 1, with key (1) and AnyValue (2)."""
    value = field(1, value.encode()) if isinstance(value, str) else varint(3 << 3) + varint(value)
    return field(1, field(1, key.encode()) + field(2, value))


def pairs(data):
    """Key and bytes of each KeyValue; its key is its first field."""
    at = 0
    while at < len(data):
        start = at
        _, at = read_varint(data, at)
        length, at = read_varint(data, at)
        _, key = read_varint(data, at)
        key_length, key = read_varint(data, key)
        yield data[key : key + key_length], data[start : at + length]
        at += length


def whole(encoded, extra):
    """The encoded column merged with the attributes that have their own columns, ordered by key."""
    if not extra:
        return encoded
    all_pairs = [*pairs(encoded), *((key.encode(), pair(key, value)) for key, value in extra)]
    return b"".join(data for _, data in sorted(all_pairs, key=lambda one: one[0]))


def cell(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.hex()
    return struct.pack(">d", value).hex() if isinstance(value, float) else str(value)


def rows(reader, path, columns):
    names, read = reader(path)
    places = {name: place for place, name in enumerate(names)}
    extra = {
        name: [(other[len(name) + 1 :], place) for other, place in places.items() if other.startswith(name + ".")]
        for name in ENCODED
    }
    for row in read:
        cells = []
        for name in columns:
            # A column that was added to the table after the part was written.
            value = row[places[name]] if name in places else None
            if name in ENCODED:
                split = [(key, row[place]) for key, place in extra[name] if row[place] is not None]
                value = whole(value, split)
            cells.append(cell(value))
        yield json.dumps(cells, ensure_ascii=False)


def shared_chunks(path):
    """The number of column chunks at the same position as another one of their row group."""
    metadata = pyarrow.parquet.ParquetFile(path).metadata
    count = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        places = collections.Counter(group.column(n).data_page_offset for n in range(group.num_columns))
        count += sum(times - 1 for times in places.values())
    return count


def main(parts, answers):
    files = shared = compared = 0
    for answer in sorted(pathlib.Path(answers).glob("*.jsonl")):
        lines = answer.read_text().split("\n")[:-1]
        columns, expected = json.loads(lines[0]), collections.Counter(lines[1:])
        paths = sorted(pathlib.Path(parts, answer.stem).glob("*/*.parquet"))
        assert paths, f"there is no part of {answer.stem}"
        for name, reader in READERS.items():
            found = collections.Counter(line for path in paths for line in rows(reader, path, columns))
            missing, beyond = expected - found, found - expected
            assert not missing and not beyond, (
                f"{name} reads {answer.stem} otherwise: the store has {next(iter(missing), None)}, "
                f"{name} has {next(iter(beyond), None)} ({missing.total()} and {beyond.total()} rows)"
            )
        files, shared = files + len(paths), shared + sum(map(shared_chunks, paths))
        compared += len(lines) - 1
    print(json.dumps({"parts": files, "rows": compared, "sharedChunks": shared}))


main(*sys.argv[1:])
