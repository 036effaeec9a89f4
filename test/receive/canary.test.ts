import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { planEndpoint, planRotation } from '../../src/core/incoming/endpoint.ts'
import { systemClock } from '../../src/core/time.ts'
import { jsonLines } from '../../src/notices/log/json-lines.ts'
import { logNotices } from '../../src/notices/log/log-notices.ts'
import { prettyLines } from '../../src/notices/log/pretty-line.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { collectLog } from '../support/collect-log.ts'
import { eventBody, NOW } from '../support/fixtures.ts'
import { opensslHmac } from '../support/sign.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

const OTHER_SECRET = 'canary-of-the-next-secret-0123456789'
const CANARIES = [SECRET, OTHER_SECRET, 'canary-token', 'canary-cookie', 'canary-header']

test('no secret, signature or credential is in any log line, column, file or answer', async () => {
  const notices = createNoticeBus()
  const lines: string[] = []
  const destination = collectLog(lines)
  for (const lines of [jsonLines(), prettyLines({ clock: systemClock })])
    logNotices(notices, { level: 'debug', destination, lines })
  const { post, store, path, receiver, endpoint } = await createTestReceiver({ publish: notices.publish })
  const learning = { ...planEndpoint({ name: 'learning', secret: OTHER_SECRET }, NOW), status: 'learning' as const }
  await store.addEndpoint(learning)
  await store.updateEndpoint(planRotation(endpoint, OTHER_SECRET, { overlapMs: 1_000, now: NOW }))
  await receiver.checkEndpoints()

  const body = eventBody('evt_1')
  const signatures = [opensslHmac(SECRET, body), opensslHmac(OTHER_SECRET, body), opensslHmac('a forger', body)]
  const credentials = { Authorization: 'Bearer canary-token', Cookie: 'a=canary-cookie', 'X-Other': 'canary-header' }
  const answers = []
  for (const to of [path, `/hooks/${learning.path}`, `${path}x`]) {
    for (const signature of [...signatures, `${signatures[0]},canary-header`, SECRET]) {
      answers.push(await post(body, { ...credentials, 'X-Service-Signature': signature }, to))
    }
  }
  answers.push(await post(body, { 'Content-Type': `text/plain; x=${signatures[0]}` }))
  answers.push(await post('not json', credentials))
  await receiver.stop()

  const seen = [...lines, ...answers.map(({ text, headers }) => text + JSON.stringify(headers)), ...readColumns(store)]
  expect(lines.length).toBeGreaterThan(30)
  for (const canary of [...CANARIES, ...signatures]) {
    expect(seen.filter((text) => text.includes(canary))).toEqual([])
  }
  await store.close()
  for (const file of readdirSync(store.folder, { recursive: true, encoding: 'utf8' })) {
    if (!/upshot\.db/.test(file)) continue
    const bytes = readFileSync(join(store.folder, file))
    for (const canary of [...CANARIES, ...signatures]) expect([file, bytes.includes(canary)]).toEqual([file, false])
  }
})

/** Every value of every column of every table, as text. */
function readColumns({ folder }: { folder: string }): string[] {
  const db = new Database(join(folder, 'upshot.db'), { readonly: true })
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  const values = tables.flatMap((table) => db.prepare<[], Record<string, unknown>>(`SELECT * FROM ${table}`).all())
  db.close()
  expect(tables).toEqual(expect.arrayContaining(['capture', 'delivery', 'endpoint_secret']))
  return values.flatMap((row) =>
    Object.values(row).map((value) =>
      Buffer.isBuffer(value) ? `${value.toString('latin1')} ${value.toString('base64')}` : String(value),
    ),
  )
}
