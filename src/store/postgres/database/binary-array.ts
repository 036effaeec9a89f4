/** Numbers of the types in PostgreSQL's catalogue. */
const OIDS = { boolean: 16, bigint: 20, integer: 23, text: 25, uuid: 2950 } as const
const HEADER_BYTES = 20
/** A length that stands for null. */
const NULL = -1

type Value = string | number | boolean | Buffer | null

/** Encodes one column of a call in PostgreSQL's binary form: less work for both sides than text. */
function encodeArray(oid: number, values: readonly Value[], sizeOf: (value: never) => number, write: Write): Buffer {
  let size = HEADER_BYTES
  for (const value of values) size += 4 + (value === null ? 0 : sizeOf(value as never))
  const buffer = Buffer.allocUnsafe(size)
  // Dimensions, whether there are nulls, the type, the length, the first index.
  let at = 0
  for (const word of [1, values.includes(null) ? 1 : 0, oid, values.length, 1]) at = buffer.writeInt32BE(word, at)
  for (const value of values) {
    const length = value === null ? NULL : write(buffer, value as never, at + 4)
    at = buffer.writeInt32BE(length, at)
    if (length !== NULL) at += length
  }
  return buffer
}

/** Writes a value, and gives its length. */
type Write = (buffer: Buffer, value: never, at: number) => number

/** `text[]`. PostgreSQL's text cannot hold the character 0. */
export function textArray(values: readonly (string | null)[]): Buffer {
  const clean = values.map((value) => (value?.includes('\0') ? value.replaceAll('\0', '\u{fffd}') : value))
  return encodeArray(OIDS.text, clean, (value: string) => Buffer.byteLength(value), writeText)
}

function writeText(buffer: Buffer, value: string, at: number): number {
  return buffer.write(value, at)
}

/** `bigint[]` of safe integers. */
export function bigintArray(values: readonly (number | null)[]): Buffer {
  return encodeArray(OIDS.bigint, values, () => 8, writeBigint)
}

function writeBigint(buffer: Buffer, value: number, at: number): number {
  buffer.writeInt32BE(Math.floor(value / 2 ** 32), at)
  buffer.writeUInt32BE(value >>> 0, at + 4)
  return 8
}

/** `integer[]` */
export function integerArray(values: readonly number[]): Buffer {
  return encodeArray(OIDS.integer, values, () => 4, writeInteger)
}

function writeInteger(buffer: Buffer, value: number, at: number): number {
  buffer.writeInt32BE(value, at)
  return 4
}

/** `boolean[]` */
export function booleanArray(values: readonly boolean[]): Buffer {
  return encodeArray(OIDS.boolean, values, () => 1, writeBoolean)
}

function writeBoolean(buffer: Buffer, value: boolean, at: number): number {
  buffer[at] = Number(value)
  return 1
}

/** `uuid[]` of 16 bytes each. */
export function uuidArray(values: readonly Buffer[]): Buffer {
  return encodeArray(OIDS.uuid, values, () => 16, writeUuid)
}

function writeUuid(buffer: Buffer, value: Buffer, at: number): number {
  return value.copy(buffer, at, 0, 16)
}
