import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { Call, type Parameter } from '../../../src/store/postgres/database/calls/call.ts'
import { asJson, bigints, booleans, integers, texts, uuids } from '../../../src/store/postgres/database/calls/column.ts'
import { MessageBuffer } from '../../../src/store/postgres/database/calls/message-buffer.ts'
import { Connection } from '../../../src/store/postgres/database/connection.ts'

const same = <Value>(value: Value): Value => value

async function openSession(): Promise<pg.Client> {
  const client = new pg.Client(inject('databaseUrl'))
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Messages that a session sends from now on. */
function spyMessages({ connection }: pg.Client): Buffer[] {
  const sent: Buffer[] = []
  const write = connection.stream.write.bind(connection.stream)
  vi.spyOn(connection.stream, 'write').mockImplementation(((message: Buffer) => {
    sent.push(message)
    return write(message)
  }) as typeof write)
  return sent
}

test('the parameters of a call arrive as they were given', async () => {
  const long = 'ab\u{e9}\u{20ac}\u{1f600}'.repeat(40_000)
  const numbers = [0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, -(2 ** 53 - 1), null]
  const call = new Connection(await openSession()).prepareCall(
    `SELECT ?::text[] AS texts, ?::text[] AS nothing, ?::bigint[]::text[] AS numbers, ?::integer[] AS integers,
       ?::boolean[] AS booleans, ?::uuid[]::text[] AS ids, ?::text AS text, ?::integer AS number,
       ?::text IS NULL AS none`,
  )
  const rows = await call.all(
    texts(['', 'a "b", {c}', null, '\u{1f600}', 'a\0b', 'a\ud800b', long], same),
    texts([], same),
    bigints(numbers, same),
    integers([7, -7], (value, index) => value + index),
    booleans([true, false], same),
    uuids(['00112233445566778899aabbccddeeff'], same),
    'it\u{2019}s\0',
    42,
    null,
  )
  expect(rows).toEqual([
    {
      texts: ['', 'a "b", {c}', null, '\u{1f600}', 'a\u{fffd}b', 'a\u{fffd}b', long],
      nothing: [],
      numbers: numbers.map((value) => value?.toString() ?? null),
      integers: [7, -6],
      booleans: [true, false],
      ids: ['00112233-4455-6677-8899-aabbccddeeff'],
      text: 'it\u{2019}s\u{fffd}',
      number: 42,
      none: true,
    },
  ])
})

test('rows of a call arrive as JSON, without the characters that text cannot hold', async () => {
  const call = new Connection(await openSession()).prepareCall(
    'SELECT * FROM json_to_recordset(?::json) AS given(n integer, words text, inner_text text)',
  )
  const given = [
    { n: 1, words: 'a\0b\ud800c\u{1f600}', inner_text: JSON.stringify({ words: 'a\0b' }) },
    { n: 2, words: null, inner_text: '\\u0000' },
  ]
  expect(await call.all(asJson(given))).toEqual([{ ...given[0], words: 'a\u{fffd}b\u{fffd}c\u{1f600}' }, given[1]])
})

test('a message is written over the last one, once that was answered', async () => {
  const session = await openSession()
  const call = new Connection(session).prepareCall<{ sum: string }>('SELECT sum(n) FROM unnest(?::integer[]) AS n')
  const sent = spyMessages(session)
  const sum = async (...values: number[]) => Number((await call.all(integers(values, same)))[0]?.sum)
  const memory = () => new Set(sent.splice(0).map(({ buffer }) => buffer)).size

  expect([await sum(1), await sum(1, 2), await sum(4)]).toEqual([1, 3, 4])
  expect(memory()).toBe(1)

  // The second one is written while the first one is under way.
  expect(await Promise.all([sum(1, 1), sum(2, 2, 2)])).toEqual([2, 6])
  expect(memory()).toBe(2)
})

test('a message that was refused may be under way still, and is not written over', async () => {
  const session = await openSession()
  const call = new Connection(session).prepareCall<{ n: number }>('SELECT 6 / n AS n FROM unnest(?::integer[]) AS n')
  const sent = spyMessages(session)

  await expect(call.all(integers([0], same))).rejects.toMatchObject({ code: '22012' })
  expect(await call.all(integers([3], same))).toEqual([{ n: 2 }])
  expect(new Set(sent.map(({ buffer }) => buffer)).size).toBe(2)
})

test('memory of a large message is not kept', async () => {
  const session = await openSession()
  const call = new Connection(session).prepareCall<{ n: number }>('SELECT cardinality(?::text[]) AS n')
  const sent = spyMessages(session)

  expect(await call.all(texts(['a'.repeat(300_000)], same))).toEqual([{ n: 1 }])
  expect(await call.all(texts(['a'], same))).toEqual([{ n: 1 }])
  expect(sent.map(({ buffer }) => buffer.byteLength > 256 * 1_024)).toEqual([true, false])
})

test('a call under way holds nothing of what was given to it', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const queries: pg.Query[] = []
  const client = { query: (query: pg.Query) => queries.push(query) } as unknown as Pick<pg.Client, 'query'>
  const call = new Call(client, new MessageBuffer(), 'SELECT $1::text[]')
  const begin = () => {
    const row = { body: 'of a delivery' }
    const column: Parameter = texts([row], ({ body }) => body)
    void call.all(column)
    return new WeakRef(row)
  }
  const row = begin()
  await new Promise(setImmediate)
  collect()
  expect(row.deref()).toBeUndefined()
  expect(queries).toHaveLength(1)
})
