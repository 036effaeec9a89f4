import pg from 'pg'
import type { Column } from './column.ts'
import type { MessageBuffer } from './message-buffer.ts'

export type Parameter = Column | string | number | null

/** Formats of values. */
const [TEXT, BINARY] = [0, 1]
/** A length that stands for null. */
const NULL = -1

/** Describe of the only portal, Execute without a limit, and Sync. */
const REST = Buffer.from('D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04', 'latin1')

/**
 * A statement that is one message, written into memory that its session keeps. The driver writes
 * each message into fresh memory, and copies each array twice.
 */
export class Call<Row extends pg.QueryResultRow> {
  readonly #client: Pick<pg.Client, 'query'>
  readonly #buffer: MessageBuffer
  readonly #text: string
  readonly #parse: Buffer

  /** `text` with `$1` for its first value. */
  constructor(client: Pick<pg.Client, 'query'>, buffer: MessageBuffer, text: string) {
    this.#client = client
    this.#buffer = buffer
    this.#text = text
    // No name and no types of parameters.
    this.#parse = Buffer.concat([Buffer.from('P\0\0\0\0\0'), Buffer.from(text), Buffer.alloc(3)])
    this.#parse.writeInt32BE(this.#parse.length - 1, 1)
  }

  all(...parameters: Parameter[]): Promise<Row[]> {
    // Not by the query, which would hold the rows of the columns until a collection of all memory.
    const message = this.#write(parameters)
    return new Promise((resolve, reject) => {
      const query = new pg.Query<Row>(this.#text, (error, result) => {
        if (error) return reject(error)
        this.#buffer.free(message)
        resolve(result.rows)
      })
      query.submit = ({ stream }) => {
        if (stream.writable) stream.write(message)
      }
      this.#client.query(query)
    })
  }

  #write(parameters: readonly Parameter[]): Buffer {
    const to = this.#buffer
    to.begin()
    to.bytes(this.#parse)
    to.byte(BIND)
    const lengthAt = to.length
    // The length, then the portal and the statement, both without a name.
    to.int32(0)
    to.int16(0)
    to.int16(parameters.length)
    for (const parameter of parameters) to.int16(typeof parameter === 'function' ? BINARY : TEXT)
    to.int16(parameters.length)
    for (const parameter of parameters) writeParameter(to, parameter)
    // All columns of rows.
    to.int16(1)
    to.int16(TEXT)
    to.int32At(lengthAt, to.length - lengthAt)
    to.bytes(REST)
    return to.finish()
  }
}

const BIND = 'B'.charCodeAt(0)

function writeParameter(to: MessageBuffer, parameter: Parameter): void {
  const lengthAt = to.length
  to.int32(NULL)
  if (parameter === null) return
  if (typeof parameter === 'function') parameter(to)
  else to.text(String(parameter))
  to.int32At(lengthAt, to.length - lengthAt - 4)
}
