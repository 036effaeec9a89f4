import { expect, test } from 'vitest'
import { formatText } from '../../src/cli/terminal/format-value.ts'
import { linesOf } from '../notices/support/notices.ts'
import { eventBody } from '../support/fixtures.ts'
import { createTestReceiver } from '../support/test-receiver.ts'

const NAMES: [string, string][] = [
  ['control characters', '/in/a\u0000b\u001B[2J\u009B31m\u0007.txt'],
  ['line breaks', '/in/a\r\nHTTP/1.1 200 OK\u2028b.txt'],
  ['an order of its own', '/in/\u202Egpj.exe\u2066.txt'],
  ['half a character', '/in/\uD800.txt'],
  ['many characters', `/in/${'ü😀'.repeat(2_000)}.txt`],
  ['a way out', '/../../etc/passwd'],
  ['markup', `/in/<img src=x onerror=alert(1)>'";--.txt`],
  ['a name of ours', '/in/__proto__'],
]

test.each(NAMES)(
  'a file whose name has %s is stored as it came, and steers neither log nor terminal',
  async (_, path) => {
    const { post, store, heard } = await createTestReceiver()
    const body = eventBody('evt_1', 'file.created', { file: { id: 'fil_1', path } })
    expect((await post(body)).status).toBe(200)
    const [event] = await store.listEvents({ limit: 9 })
    expect(event?.body).toBe(body)
    expect(JSON.parse(event?.body ?? '{}').data.file.path).toBe(path)
    const [json = '', ...others] = linesOf(heard)
    expect([JSON.parse(json).level, others.length]).toEqual(['info', heard.length - 1])
    const pretty = linesOf(heard, { pretty: true, colour: false })
    for (const line of [...pretty, formatText(path)])
      expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u2028\u202A-\u202E\u2066-\u2069]/u)
  },
)
