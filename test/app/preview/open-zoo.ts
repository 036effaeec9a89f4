import { createHash } from 'node:crypto'
import dgram from 'node:dgram'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openIsolated } from '../../../src/app/preview/isolated-process.ts'
import { imagineRun } from '../../../src/app/preview/plan-event.ts'
import { openReads } from '../../../src/app/preview/planned-files.ts'
import type { EventRecord } from '../../../src/core/incoming/event.ts'
import { DEFAULT_MAX_STEPS } from '../../../src/core/runs/step.ts'
import { DEFAULT_POLICY } from '../../../src/core/safety/guard.ts'
import { type ManualClock, systemClock } from '../../../src/core/time.ts'
import { createFilesClient } from '../../../src/files/index.ts'
import { openSandbox } from '../../sandbox/support/open-sandbox.ts'
import { NOW } from '../../support/fixtures.ts'
import { DOOR } from '../../support/program.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openTestStore } from '../../support/test-store.ts'
import { type Animal, moduleOf, ZOO } from './zoo.ts'

/** A server that notes each request, packet and connection. */
async function openCanary() {
  const reached: string[] = []
  const server = createServer((request, response) => {
    reached.push(`${request.method} ${request.url}`)
    response.end('ok')
  })
  server.on('connection', () => reached.push('a connection'))
  const udp = dgram.createSocket('udp4')
  udp.on('message', (text) => reached.push(`udp ${text}`))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((done) => udp.bind(port, '127.0.0.1', done))
  onTestFinished(() => {
    udp.close()
    server.close()
  })
  return { reached, url: `http://127.0.0.1:${port}/` }
}

interface Wanted {
  trustsReads?: boolean
  animals?: readonly Animal[]
  /** Those of channels. */
  secretVariables?: readonly string[]
  /** Of the isolated process's patience. */
  clock?: ManualClock
}

/** The zoo in an isolated process, beside a sandbox, a canary, a database and a folder. */
export async function openZoo({ trustsReads = false, animals = ZOO, secretVariables = [], clock }: Wanted) {
  const folder = tempFolder()
  const modules = tempFolder()
  writeFileSync(join(folder, 'kept'), 'as it was')
  const { reached, url } = await openCanary()
  const world = { url, folder, door: DOOR }
  for (const [index, animal] of animals.entries()) {
    writeFileSync(join(modules, `zoo-${index}.workflow.ts`), moduleOf(animal, index, world))
  }
  const child = moduleOf({ name: '', code: 'await fetch(U)', call: null }, 0, world)
  writeFileSync(
    join(modules, 'zoo-child.workflow.ts'),
    child.replace("id: 'zoo-0', on: 'zoo'", "id: 'zoo-child', on: 'zoo.told'"),
  )
  const onLoad = moduleOf({ name: '', code: '', call: null }, animals.length, world)
  writeFileSync(join(modules, 'on-load.workflow.ts'), `${onLoad}\nawait fetch(U)`)
  const sandbox = await openSandbox()
  const { id } = await sandbox.storage('storage_a').put('/a.txt', 'bytes')
  const { key: apiKey } = await sandbox.keys.create({ name: 'zoo', scope: 'read-write' })
  const client = createFilesClient({ baseUrl: sandbox.url, apiKey, plan: 'enterprise' })
  const store = openTestStore()
  const limits = { steps: DEFAULT_MAX_STEPS }
  const config = { workflowsDir: modules, guardPolicy: DEFAULT_POLICY, trustsReads, limits, secretVariables }
  const isolated = await openIsolated(store, config, {
    ...(clock && { clock }),
    readFiles: openReads(
      { clientOf: async () => client },
      { clock: systemClock, signal: new AbortController().signal },
    ),
  })
  onTestFinished(() => isolated[Symbol.asyncDispose]())
  const body = JSON.stringify({ id: 'evt_zoo', type: 'zoo', created: '2026-06-01T12:00:00Z', data: { file: id } })
  const at = { createdAt: NOW, receivedAt: NOW, stream: 0, seq: 1 }
  const event: EventRecord = { ...at, id: 'evt_zoo', account: 'default', type: 'zoo', origin: 'webhook', body }
  /** Everything that an effect could change. */
  const readWorld = () => ({
    files: readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    database: createHash('sha256')
      .update(readFileSync(join(store.folder, 'upshot.db')))
      .digest('hex'),
    log: createHash('sha256')
      .update(readFileSync(join(store.folder, 'upshot.db-wal')))
      .digest('hex'),
    changes: sandbox.audit.requests().filter(({ operation }) => !/^files\.(get|list)$/.test(operation)),
    stored: sandbox.storage('storage_a').list(),
    reached: [...reached],
  })
  const plan = (workflow: string, claim = imagineRun(event, workflow, NOW)) =>
    isolated.previewOne({ claim, steps: [] }, { readsLive: true, plans: { use: [], borrows: true } })
  return { isolated, plan, readWorld, event, url }
}
