import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../src/author/define-event.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { WEBHOOK_SECRET } from '../support/test-config.ts'
import { startServedApp, startService } from './support/served-app.ts'

const fileCreated = defineEvent('file.created', { data: z.looseObject({ file: z.looseObject({ id: z.string() }) }) })

const look = defineWorkflow({
  id: 'look',
  on: fileCreated,
  run: async ({ event, files }) => (await files.get({ service: 'storage_a', id: event.data.file.id })).size,
})

test('a run that waits for the request limit frees its slot, and goes on at its moment', async () => {
  const served = await startService()
  const plain = defineWorkflow({ id: 'plain', on: 'transfer.*', run: () => 'through' })
  const { hear, app, advance, clock } = await startServedApp(
    { ...served, service: { ...served.service, plan: 2 } },
    { workflows: [look, plain] },
    { config: { slots: 1 } },
  )
  for (const name of ['a', 'b', 'c']) await served.sandbox.storage('storage_a').put(`/${name}.txt`, name)
  const parked = await hear('run.parked')
  expect(parked).toMatchObject({
    workflow: 'look',
    reason: expect.stringContaining('The limit allows no request soon enough'),
  })
  expect(parked.dueAt).toBe(clock.now() + 61_000)
  served.sandbox.events.emit('transfer.completed', { transfer: {} })
  await hear('run.completed', ({ workflow }) => workflow === 'plain')
  expect(await app.store.findRun(parked.run)).toMatchObject({ status: 'waiting' })

  await advance(61_000)
  await hear('run.completed', ({ run }) => run === parked.run)
  expect(served.sandbox.audit.requests().map(({ status }) => status)).toEqual([200, 200, 200])
})

test('a burst of the project file lets more requests of an account start at once than a minute allows', async () => {
  const served = await startService()
  const { hear } = await startServedApp(
    { ...served, service: { ...served.service, plan: 2 } },
    { workflows: [look] },
    { config: { files: { burst: { default: 4 } } } },
  )
  for (const name of ['a', 'b', 'c', 'd', 'e']) await served.sandbox.storage('storage_a').put(`/${name}.txt`, name)
  await hear('run.parked')
  // The fifth run parks while requests of the others are on their way.
  await expect.poll(() => served.sandbox.audit.requests()).toHaveLength(4)
})

test('a restarted app sends nothing before the moment that a 429 named', async () => {
  const served = await startService()
  const dataDir = tempFolder()
  // A 429 without a time means a whole minute.
  served.sandbox.settings.update({ retryAfter: false, rateHeaders: false })
  await served.sandbox.faults.add({ on: 'files.get', status: 429, times: 1 })
  const before = await startServedApp(served, { workflows: [look] }, { dataDir })
  await served.sandbox.storage('storage_a').put('/a.txt', 'a')
  const { dueAt, run } = await before.hear('run.parked')
  expect(dueAt).toBe(before.clock.now() + 60_000)
  await before.app.stop()

  const after = await startServedApp(served, { workflows: [look] }, { dataDir })
  await served.sandbox.storage('storage_a').put('/b.txt', 'b')
  await after.hear('run.parked', (notice) => notice.run !== run)
  expect(served.sandbox.audit.requests()).toHaveLength(1)
  await after.advance(60_000)
  const { run: first } = await after.hear('run.completed')
  await after.hear('run.completed', (notice) => notice.run !== first)
  expect(served.sandbox.audit.requests().map(({ status }) => status)).toEqual([429, 200, 200])
  expect(served.sandbox.audit.findings()).toEqual([])
})

/** Starts an app in a process of its own. `lines` is its output. */
function startProcess(dataDir: string, { baseUrl, apiKey }: { baseUrl: string; apiKey: string }, plan: number) {
  const entry = fileURLToPath(new URL('support/limited-app.ts', import.meta.url))
  const child = spawn(process.execPath, [entry, dataDir, baseUrl, apiKey, String(plan)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() as AsyncIterator<string>,
    async end() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

test('two apps with one API key share one request limit', { timeout: 60_000 }, async () => {
  const PLAN = 6
  const RUNS = 20
  const { sandbox, service } = await startService({ clock: 'real', plan: 'unlimited' })
  const dataDir = tempFolder()
  const apps = [1, 2].map(() => startProcess(dataDir, service, PLAN))
  const [url] = await Promise.all(apps.map(async ({ lines }) => JSON.parse((await lines.next()).value).endpoint))
  await sandbox.webhooks.add({ url, events: ['*'], secret: WEBHOOK_SECRET })
  const settled = new Set<string>()
  const listening = apps.map(async ({ lines }) => {
    for (let next = await lines.next(); !next.done; next = await lines.next()) settled.add(JSON.parse(next.value).run)
  })
  for (let number = 0; number < RUNS; number++) await sandbox.storage('storage_a').put(`/${number}.txt`, 'x')
  while (settled.size < RUNS) await new Promise(setImmediate)
  await Promise.all(apps.map((app) => app.end()))
  await Promise.all(listening)

  const starts = sandbox.audit.requests().map(({ at }) => Date.parse(at))
  expect(starts.length).toBeGreaterThanOrEqual(PLAN)
  const crowded = starts.filter((at, index) => index >= PLAN && at - (starts[index - PLAN] ?? 0) < 60_000)
  expect(crowded).toEqual([])
})
