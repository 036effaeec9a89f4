import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { AppUrls } from '../../src/app/app-urls.ts'
import { traceIdOf } from '../../src/core/runs/trace.ts'
import { openStore } from '../../src/store/open-store.ts'
import { eventBody } from '../support/fixtures.ts'
import { opensslHmac } from '../support/sign.ts'
import { WEBHOOK_SECRET } from '../support/test-config.ts'
import { startCollector } from '../watch/support/collector.ts'
import { dieAtEveryCall } from './every-call.ts'
import { createScenario, EVENT_IDS, WORKFLOWS } from './scenario.ts'

const RUNS = EVENT_IDS.length * WORKFLOWS.length

test('an app killed at every store call leaves at most one trace for each event, and sends no span twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'upshot-traces-'))
  const collector = await startCollector()
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
  onTestFinished(() => {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT
    rmSync(folder, { recursive: true, force: true })
  })
  const traces = EVENT_IDS.map((event) => traceIdOf({ kind: 'event', account: 'default', event })).sort()
  const survivedAt = await dieAtEveryCall(async (call) => {
    const name = `call-${call}`
    const dataDir = join(folder, name)
    const isFinished = await liveUntilDeath(dataDir, call)
    await liveOn(dataDir)
    const spans = collector.spans.filter(({ service }) => JSON.stringify(service).includes(`"${name}"`))
    const sent = [...new Set(spans.map(({ traceId }) => traceId))].sort()
    // A kill loses the spans that are not sent yet, but never makes another trace.
    expect(traces).toEqual(expect.arrayContaining(sent))
    if (isFinished) expect(sent).toEqual(traces)
    const ids = spans.map(({ spanId, name: what }) => `${what} ${spanId}`)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    return isFinished
  })
  expect(survivedAt).toBeGreaterThan(30)
  expect(collector.faults).toEqual([])
}, 300_000)

/** True when the process lived to its end. */
async function liveUntilDeath(dataDir: string, call: number): Promise<boolean> {
  const child = fork(join(import.meta.dirname, 'doomed-app.ts'), [dataDir, 'answered', String(call)], { execArgv: [] })
  const exit = once(child, 'exit')
  let completed = 0
  child.on('message', (message: object) => {
    if ('urls' in message) void deliver(message.urls as AppUrls)
    if ('completed' in message && ++completed === RUNS) child.send('stop', () => {})
  })
  const [code] = await exit
  return code === 0
}

/** The service repeats its deliveries, and all runs end. */
async function liveOn(dataDir: string): Promise<void> {
  const app = await createScenario(dataDir, 'second', openStore)
  try {
    let wake = () => {}
    app.notices.subscribe('run.completed', () => wake())
    await deliver(await app.start())
    for (;;) {
      const told = new Promise<void>((resolve) => {
        wake = resolve
      })
      const runs = await app.store.listRuns({ limit: 100 })
      if (runs.length === RUNS && runs.every(({ status }) => status === 'completed')) return
      await told
    }
  } finally {
    await app.stop()
  }
}

async function deliver(urls: AppUrls): Promise<void> {
  for (const id of EVENT_IDS) {
    const body = eventBody(id)
    const signature = opensslHmac(WEBHOOK_SECRET, body)
    const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': signature }
    await fetch(urls.endpoints.service ?? '', { method: 'POST', headers, body }).catch(() => null)
  }
}
