import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { alerts } from '../config/alerts.ts'
import { coverageReport } from '../config/coverage-report.ts'
import { crashEverywhere, testbed } from '../src/testing/index.ts'
import { SweepWorld } from '../test/schedule/sweep/support/sweep-world.ts'
import { openDataDir } from '../test/support/open-data-dir.ts'
import { outputOf, override, useOutput } from '../test/support/sample-output.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import workflow from './weekly-coverage.workflow.ts'

const out = useOutput()

const HOUR = 3_600_000
/** The sweeps of the tests are in the week before. */
const MONDAY = '2026-06-08T07:00:00.000Z'
const RECORD = 'coverage-2026-06-08.json'
/** Its step starts a program, which on a busy machine takes longer than code may rest. */
const OPTIONS = { workflows: [workflow], patienceMs: 60_000 }
const UPSHOT = [process.execPath, 'src/cli/main.js']

/** A program in place of `upshot`, which prints this and exits with that code. */
function say(text: string, code: number): string[] {
  return [process.execPath, '-e', `process.stdout.write(${JSON.stringify(text)}); process.exitCode = ${code}`, '--']
}

const NOTHING = JSON.stringify({ data: { storages: [], findings: [], unknowable: [] } })

test('the report names the losses of the week, as "upshot coverage" finds them', async () => {
  const dataDir = tempFolder()
  vi.stubEnv('UPSHOT_DATA_DIR', dataDir)
  onTestFinished(() => void vi.unstubAllEnvs())
  const store = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  const world = new SweepWorld(store)
  for (let n = 0; n < 9; n++) world.add()
  await world.run(HOUR)
  const [lost, late] = [world.add(), world.add()]
  await world.run(7 * HOUR)
  await world.tell('file.created', late)
  await world.match()
  override(coverageReport, { command: UPSHOT })
  await using t = await testbed(OPTIONS)
  expect(outputOf(await t.tick(workflow, MONDAY))).toMatchObject({ lost: 1, posted: false })
  expect(out.document('reports', RECORD)).toMatchObject({
    text: '1 event was lost in the last week.',
    since: '2026-06-01T07:00:00.000Z',
    named: [`file.created of /in/${lost}: missing`],
    storages: [{ storage: 'storage_a', known: 11, arrived: 2, lastSweep: expect.stringMatching(/^2026-06-01T/) }],
    incompleteSweeps: [],
    unknowable: expect.arrayContaining([expect.stringContaining('transfers that never told')]),
  })
})

test('a report without a storage says what to do, and one of a failed sweep is not taken for a proof', async () => {
  override(coverageReport, { command: say(NOTHING, 8) })
  await using t = await testbed(OPTIONS)
  await t.tick(workflow, MONDAY)
  expect(out.document('reports', RECORD)).toMatchObject({ text: expect.stringContaining('name one under "reconcile"') })
  const sweep = { ended: { at: MONDAY, fault: 'totals' } }
  const counts = { account: 'default', storage: 'storage_a', known: 1, arrived: 0, gone: 0 }
  const failed = { storages: [{ ...counts, sweep }], findings: [], unknowable: [] }
  override(coverageReport, { command: say(JSON.stringify({ data: failed }), 8) })
  await t.tick(workflow, '2026-06-15T07:00:00.000Z')
  expect(out.document('reports', 'coverage-2026-06-15.json')).toMatchObject({
    text: 'No event was lost in the last week; not complete: the last sweep of 1.',
    incompleteSweeps: ['default/storage_a: totals'],
  })
})

test('a database that cannot be read fails the run, and no report says that all is well', async () => {
  override(coverageReport, { command: say('', 8) })
  await using t = await testbed(OPTIONS)
  await t.tick(workflow, MONDAY)
  await t.advance('1d')
  expect(t.run(workflow)).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('coverage') } })
  expect(out.written()).toEqual([])
})

test('the report is posted once wherever the app crashes', { timeout: 60_000 }, async () => {
  override(coverageReport, { command: say(NOTHING, 0) })
  const { writes } = await crashEverywhere(OPTIONS, async (t) => {
    const posted = await openReceiver()
    out.renew()
    await t.tick(workflow, MONDAY)
    await t.advance('1d')
    expect(outputOf(t.run(workflow))).toMatchObject({ posted: true })
    expect(new Set(posted).size).toBe(1)
    expect(out.written()).toEqual([`reports/${RECORD}`])
  })
  expect(writes).toBeGreaterThanOrEqual(4)
})

/** Opens a receiver at `ALERT_URL`; returns the keys and bodies that it gets. */
async function openReceiver(): Promise<string[]> {
  const posted: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    posted.push(`${request.headers['idempotency-key']} ${Buffer.concat(chunks)}`)
    response.end('thanks')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  override(alerts, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks` })
  return posted
}
