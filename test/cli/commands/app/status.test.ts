import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { writeSandboxFile } from '../../../../src/cli/commands/sandbox/sandbox-control.ts'
import { askRunningApp } from '../../../../src/cli/open/running-app.ts'
import { writeRuntimeFile } from '../../../../src/project/data-dir/runtime-file.ts'
import { SweepWorld } from '../../../schedule/sweep/support/sweep-world.ts'
import { listen } from '../../../support/listen.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'
import { test } from '../../support/test-project.ts'

const HOUR = 3_600_000

test('status prints the addresses of a running app, and not the key of its sandbox', async () => {
  const { dataDir, urls } = await startTestApp()
  const status = await runHere(dataDir, ['status', '--json'])
  expect(status.json.data).toMatchObject({
    isReady: true,
    sandboxUrl: expect.stringMatching(/account$/),
    processes: [{ pid: process.pid, receiverUrl: urls.receiver, adminUrl: urls.admin }],
  })
  expect(status.stdout).not.toContain('sk_sandbox_')
})

test('status fails where no process runs, and does not trust one that crashed', async ({ dataDir, store }) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const gone = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  server.close()
  writeRuntimeFile(dataDir, { pid: 1, startedAt: '2026-06-01T12:00:00Z', receiver: gone, admin: gone, sandbox: null })
  const refused = { exit: 6, json: { ok: false, error: { code: 'not_running' } } }
  expect(await runHere(dataDir, ['status', '--json'])).toMatchObject(refused)
  const crashed = { id: 'wrk_1', role: 'all', pid: 1, version: '0.1.0', adminUrl: gone, receiverUrl: gone, broken: [] }
  await store.beatProcess({ ...crashed, startedAt: Date.now(), seenAt: Date.now() - 21_500 })
  const shown = (await runHere(dataDir, ['status'])).stdout
  expect(shown).toMatch(/not ready \(app: process 1 has ended without a stop, or does not answer\)/)
  expect(shown).toMatch(/process {3}1, role all, .*, last seen 2[1-9] s ago\n/)
  expect(await runHere(dataDir, ['status', '--json'])).toMatchObject({ exit: 6, json: { data: { isReady: false } } })
  writeFileSync(join(dataDir, 'runtime.json'), '{ "pid": ')
  expect(await runHere(dataDir, ['status', '--json'])).toMatchObject({ exit: 6, json: { data: { isReady: false } } })
})

test('another app at the address of one that crashed is not taken for it, nor is its sandbox', async ({ dataDir }) => {
  const { urls, sandbox } = await startTestApp()
  const { receiver, admin } = urls
  const facts = { pid: process.pid + 1, startedAt: '2026-06-01T12:00:00Z', receiver, admin }
  const found = { baseUrl: sandbox.url, origin: sandbox.origin, apiKey: 'sk_sandbox_x' }
  writeRuntimeFile(dataDir, { ...facts, sandbox: found })
  const app = await askRunningApp({ dataDir })
  expect(app).toBe(`process ${facts.pid} has ended without a stop`)
  mkdirSync(join(dataDir, 'sandbox'))
  writeSandboxFile(join(dataDir, 'sandbox'), { ...facts, origin: sandbox.origin })
  expect(await runHere(dataDir, ['sandbox', 'reset', '--yes', '--json'])).toMatchObject({
    exit: 6,
    json: { error: { code: 'not_running', message: expect.stringContaining('is another one') } },
  })
  expect(sandbox.webhooks.list()).toHaveLength(1)
})

test('status says of a process that is stopped that it gives no answer', async ({ dataDir, store }) => {
  const admin = await listen(createServer(() => {}))
  const facts = { pid: 1, startedAt: '2026-06-01T12:00:00Z' }
  writeRuntimeFile(dataDir, { ...facts, receiver: admin, admin, sandbox: null })
  const frozen = { id: 'wrk_1', role: 'all', pid: 1, version: '0.1.0', adminUrl: admin, receiverUrl: admin, broken: [] }
  await store.beatProcess({ ...frozen, startedAt: Date.now(), seenAt: Date.now() })
  const within = AbortSignal.timeout.bind(AbortSignal)
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => within(50))
  onTestFinished(() => void vi.restoreAllMocks())
  expect((await runHere(dataDir, ['status'])).stdout).toContain('process 1 gives no answer within 10 s: it is stopped')
})

test('status tells how sweeps stand, and exits with 7 where an event was lost within a week', async () => {
  const { app, dataDir } = await startTestApp()
  const world = new SweepWorld(app.store)
  world.clock.set(Date.now() - 10 * HOUR)
  for (let n = 0; n < 20; n++) world.add()
  await world.run(HOUR)
  const calm = await runHere(dataDir, ['status', '--json'])
  expect(calm).toMatchObject({
    exit: 0,
    json: { data: { sweeps: [{ storage: 'storage_a', lost: 0, complete: { endedAt: expect.stringMatching(/Z$/) } }] } },
  })
  world.add()
  await world.run(7 * HOUR)
  const lost = await runHere(dataDir, ['status'])
  expect(lost).toMatchObject({
    exit: 7,
    stdout: expect.stringMatching(/sweep +storage_a: complete .*, 1 lost in 7 days/),
  })
})
