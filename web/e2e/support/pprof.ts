// pprof files at another time than they were taken: the server drops what is past its retention.
import { gunzipSync, gzipSync } from "node:zlib";

/** `Profile.time_nanos` of profile.proto. */
const TIME_NANOS = 9;
const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** The profile as if it was taken at this time. */
export function atTime(file: Buffer, ms: number): Buffer<ArrayBuffer> {
  const bytes = file[0] === 0x1f && file[1] === 0x8b ? gunzipSync(file) : file;
  const parts: Buffer[] = [];
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const start = at;
    const key = Number(readVarint());
    const [field, type] = [key >> 3, key & 7];
    if (type !== VARINT && type !== LENGTH_DELIMITED) throw new Error(`a field of type ${type}`);
    const value = readVarint();
    if (type === LENGTH_DELIMITED) at += Number(value);
    if (field !== TIME_NANOS) parts.push(bytes.subarray(start, at));
  }
  parts.push(Buffer.from([(TIME_NANOS << 3) | VARINT]), varint(BigInt(ms) * 1_000_000n));
  return gzipSync(Buffer.concat(parts)) as Buffer<ArrayBuffer>;
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
