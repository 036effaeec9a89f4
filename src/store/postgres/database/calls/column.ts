import { toStorable } from '../../../../core/runs/step.ts'
import type { MessageBuffer } from './message-buffer.ts'

/** An array of a call, written in PostgreSQL's binary form: less work for both sides than text. */
export type Column = (to: MessageBuffer) => void

/** Numbers of the types in PostgreSQL's catalogue. */
const OIDS = { boolean: 16, bigint: 20, integer: 23, text: 25, uuid: 2950 } as const
/** A length that stands for null. */
const NULL = -1

type Write<Value> = (to: MessageBuffer, value: Value) => void

function columnsOf<Value>(oid: number, write: Write<Value>) {
  return <Row>(rows: readonly Row[], read: (row: Row, index: number) => Value | null): Column =>
    (to) => {
      // Dimensions, whether there may be nulls, the type, the length, the first index.
      for (const word of [1, 1, oid, rows.length, 1]) to.int32(word)
      for (let index = 0; index < rows.length; index++) {
        const value = read(rows[index] as Row, index)
        const lengthAt = to.length
        to.int32(NULL)
        if (value === null) continue
        write(to, value)
        to.int32At(lengthAt, to.length - lengthAt - 4)
      }
    }
}

/** `text[]` */
export const texts = columnsOf<string>(OIDS.text, (to, value) => to.text(value))

/** `bigint[]` of safe integers. */
export const bigints = columnsOf<number>(OIDS.bigint, (to, value) => to.bigint(value))

/** `integer[]` */
export const integers = columnsOf<number>(OIDS.integer, (to, value) => to.int32(value))

/** `boolean[]` */
export const booleans = columnsOf<boolean>(OIDS.boolean, (to, value) => to.byte(Number(value)))

/** `uuid[]` of 32 hexadecimal digits each. */
export const uuids = columnsOf<string>(OIDS.uuid, (to, value) => to.digits(value))

/** Rows of a call as JSON text; null for none. */
export function asJson(rows: readonly object[]): string | null {
  if (rows.length === 0) return null
  const text = JSON.stringify(rows)
  return REFUSED.test(text)
    ? JSON.stringify(rows, (_, value) => (typeof value === 'string' ? toStorable(value) : value))
    : text
}

/** The character 0 and halves of a pair, which PostgreSQL's text cannot hold. */
const REFUSED = /\\u(?:0000|d[89a-f])/
