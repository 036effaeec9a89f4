import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../../src/app/app.ts'
import type { AppUrls } from '../../src/app/app-urls.ts'
import { traceIdOf } from '../../src/core/runs/trace.ts'
import { openStore } from '../../src/store/open-store.ts'
import { DATABASES, type DatabaseName, inDatabase, silenceWorkers } from '../support/databases.ts'
import { eventBody } from '../support/fixtures.ts'
import { inStore, type Place } from '../support/open-place.ts'
import { bundledProgram } from '../support/program.ts'
import { opensslHmac } from '../support/sign.ts'
import { WEBHOOK_SECRET } from '../support/test-config.ts'
import { type ReceivedSpan, startCollector } from '../watch/support/collector.ts'
import type { Moment } from './doom.ts'
import { dieAtEveryCall } from './every-call.ts'
import { createScenario, EVENT_IDS, effectsFile, WORKFLOWS } from './scenario.ts'

const CHILD = bundledProgram(join(import.meta.dirname, 'doomed-app.ts'))

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'upshot-crash-'))
})
afterAll(() => {
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT
  rmSync(folder, { recursive: true, force: true })
})

const deliveries = EVENT_IDS.map((id) => {
  const body = eventBody(id)
  return { id, body, signature: opensslHmac(WEBHOOK_SECRET, body) }
})

const MOMENTS: Moment[] = ['asked', 'answered']

test.each(DATABASES.flatMap((database) => MOMENTS.map((moment) => ({ database, moment }))))(
  'P1: an app on $database, killed once each call was $moment, loses no event and repeats no step, with one trace each',
  async ({ database, moment }) => {
    const collector = await startCollector()
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
    // A life of the app takes seconds, so that each run of the suite tries a few calls.
    const survivedAt = await dieAtEveryCall(async (call) => {
      const name = `${database}-${moment}-${call}`
      const isFinished = await surviveCrash(database, name, { moment, call })
      checkTraces(collector.spans, name, isFinished)
      return isFinished
    }, EVERY[database])
    // The scenario makes enough calls to be a test; the last life made no call to die at.
    expect(survivedAt).toBeGreaterThan(30)
    expect(collector.faults).toEqual([])
  },
  300_000,
)

/** Of so many store calls, one is tried. */
const EVERY = { SQLite: 8, PostgreSQL: 32 }

/**
 * Lets a process die at the n-th call, starts a second one, and checks the database. Returns true
 * when the first lived to its end.
 */
function surviveCrash(database: DatabaseName, name: string, death: Death): Promise<boolean> {
  return inDatabase(database, async (given) => {
    const dataDir = join(folder, name)
    const place = 'file' in given ? { file: join(dataDir, 'upshot.db') } : given
    const { acknowledged, isFinished } = await liveUntilDeath(dataDir, place, death)
    const { storedBefore, finishedBefore } = await readRemains(place)
    expect(storedBefore).toEqual(expect.arrayContaining(acknowledged))
    await silenceWorkers(place)
    await liveOn(dataDir, place, acknowledged)
    await checkEverything(dataDir, place, finishedBefore)
    rmSync(dataDir, { recursive: true, force: true })
    return isFinished
  })
}

interface Death {
  moment: Moment
  call: number
}

async function liveUntilDeath(dataDir: string, place: Place, { moment, call }: Death) {
  const child = fork(CHILD, [dataDir, JSON.stringify(place), moment, String(call)], { execArgv: [] })
  const exit = once(child, 'exit')
  const completed = completions(child)
  const urls = await Promise.race([firstMessage(child), exit.then(() => null)])
  const acknowledged = urls ? await deliver(urls, deliveries) : []
  const isWhole = acknowledged.length === deliveries.length
  const isCompleted = isWhole && (await Promise.race([completed.then(() => true), exit.then(() => false)]))
  // The callback ignores the error when the child died after its last notice.
  if (isCompleted) child.send('stop', () => {})
  const [code] = await exit
  return { acknowledged, isFinished: code === 0 }
}

async function firstMessage(child: ChildProcess): Promise<AppUrls> {
  const [{ urls }] = await once(child, 'message')
  return urls
}

function completions(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    let left = EVENT_IDS.length * WORKFLOWS.length
    child.on('message', (message: object) => {
      if ('completed' in message && --left === 0) resolve()
    })
  })
}

/** Sends deliveries like the service, and returns the ids of those answered with 2xx. */
async function deliver(urls: AppUrls, all: typeof deliveries): Promise<string[]> {
  const answers = all.map(async ({ id, body, signature }) => {
    const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': signature }
    const response = await fetch(urls.endpoints.service ?? '', { method: 'POST', headers, body }).catch(() => null)
    return response?.ok ? [id] : []
  })
  return (await Promise.all(answers)).flat()
}

/** A second life on the same data: the service repeats unanswered deliveries, and all runs end. */
async function liveOn(dataDir: string, place: Place, acknowledged: string[]): Promise<void> {
  const app = await createScenario(dataDir, place, 'second', openStore)
  try {
    const allCompleted = everyRunCompleted(app)
    const urls = await app.start()
    await deliver(
      urls,
      deliveries.filter(({ id }) => !acknowledged.includes(id)),
    )
    await allCompleted()
  } finally {
    await app.stop()
  }
}

function everyRunCompleted(app: App): () => Promise<void> {
  let wake = () => {}
  app.notices.subscribe('run.completed', () => wake())
  return async () => {
    for (;;) {
      const told = new Promise<void>((resolve) => {
        wake = resolve
      })
      const runs = await app.store.listRuns({ limit: 100 })
      if (runs.length >= EVENT_IDS.length * WORKFLOWS.length && runs.every((run) => run.status === 'completed')) return
      await told
    }
  }
}

/** Reads the events and finished steps that a dead process left. */
async function readRemains(place: Place): Promise<{ storedBefore: string[]; finishedBefore: string[] }> {
  if ('file' in place && !existsSync(place.file)) return { storedBefore: [], finishedBefore: [] }
  return inStore(place, async (store) => {
    const events = await store.listEvents({ limit: 100 })
    const finishedBefore: string[] = []
    for (const run of await store.listRuns({ limit: 100 })) {
      const steps = await store.listSteps(run.id)
      finishedBefore.push(...steps.filter((step) => step.status === 'completed').map((step) => `${run.id} ${step.key}`))
    }
    return { storedBefore: events.map((event) => event.id), finishedBefore }
  })
}

async function checkEverything(dataDir: string, place: Place, finishedBefore: string[]): Promise<void> {
  const { events, runs } = await inStore(place, async (store) => ({
    events: await store.listEvents({ limit: 100 }),
    runs: await store.listRuns({ limit: 100 }),
  }))
  expect(events.map((event) => event.id).sort()).toEqual(EVENT_IDS)
  const causes = runs.map((run) => `${run.workflow} ${run.eventId} ${run.status}`).sort()
  expect(causes).toEqual(WORKFLOWS.flatMap((name) => EVENT_IDS.map((id) => `${name} ${id} completed`)).sort())

  const first = readEffects(dataDir, 'first')
  const second = readEffects(dataDir, 'second')
  expect(second.filter((step) => finishedBefore.includes(step))).toEqual([])
  expect(new Set(second).size).toBe(second.length)
  expect(new Set([...first, ...second]).size).toBe(EVENT_IDS.length * 5)
  // No write step began before the step that it depends on was on disk.
  const restedOn = first.filter((step) => step.endsWith(' write')).map((step) => step.replace(/write$/, 'read'))
  expect(finishedBefore).toEqual(expect.arrayContaining(restedOn))
}

/** A kill loses the spans that are not sent yet, but makes no other trace and sends none twice. */
function checkTraces(all: readonly ReceivedSpan[], service: string, isFinished: boolean): void {
  const traces = EVENT_IDS.map((event) => traceIdOf({ kind: 'event', account: 'default', event })).sort()
  const spans = all.filter((span) => JSON.stringify(span.service).includes(`"${service}"`))
  const sent = [...new Set(spans.map(({ traceId }) => traceId))].sort()
  expect(traces).toEqual(expect.arrayContaining(sent))
  if (isFinished) expect(sent).toEqual(traces)
  const ids = spans.map(({ spanId, name }) => `${name} ${spanId}`)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
}

function readEffects(dataDir: string, life: string): string[] {
  const file = effectsFile(dataDir, life)
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean) : []
}
