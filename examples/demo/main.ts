import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sandbox } from 'upshot/sandbox'
import { sendEvent } from '../../src/app/deliver.ts'
import { newId } from '../../src/core/ids.ts'
import type { Run } from '../../src/core/runs/run.ts'
import type { Store } from '../../src/core/store/store.ts'
import { isoTime, systemClock } from '../../src/core/time.ts'
import type { Say } from '../shared.ts'
import { Checks, DemoStage, OLD_EXPORTS, type Scene, until } from './stage.ts'

/** Runs all scenes in a temporary folder and checks every effect. Throws where one is missing. */
export default async function run(say: Say) {
  const folder = mkdtempSync(join(tmpdir(), 'upshot-demo-'))
  const checks = new Checks(say)
  try {
    await using stage = await DemoStage.open(folder)
    say(`The service (a sandbox) is at ${stage.sandbox.origin}, the app at ${stage.receiverUrl}.`)
    for (const [number, [title, scene]] of SCENES.entries()) {
      say(`\n${number + 1}. ${title}`)
      await scene(stage, checks)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (checks.failed > 0) throw new Error(`${checks.failed} promises were broken: see the lines with ✗.`)
  return 'Every promise held.'
}

async function dropFile({ sandbox, store, dataDir }: DemoStage, checks: Checks): Promise<void> {
  await sandbox.storage('storage_a').put('/inbox/first.txt', 'the first file\n')
  await writeFile(join(sandbox.storage('storage_a').dir, 'inbox', 'tool.exe'), 'not wanted here')
  const runs = await until('both files are recorded', () => completedRuns(store, 'intake-new-file', 2))
  const records = runs.filter((run) => existsSync(join(dataDir, 'intake', `${run.eventId}.json`)))
  checks.expect('a record of each file is on disk', records.length === 2)
  const paths = sandbox
    .storage('storage_a')
    .list()
    .map((entry) => entry.path)
  checks.expect('the file that the policy forbids is deleted at the service', !paths.includes('/inbox/tool.exe'))
  checks.expect('the file that it allows is still there', paths.includes('/inbox/first.txt'))
}

async function completeTransfer({ sandbox, store, dataDir }: DemoStage, checks: Checks): Promise<void> {
  await sandbox.storage('storage_a').put('/out/report.pdf', 'a report, as PDF as it gets\n')
  const transfer = await sandbox.transfers.start({
    from: ['storage_a', '/out/report.pdf'],
    to: ['storage_b', '/archive/'],
  })
  const [run] = await until('the transfer is verified', () => completedRuns(store, 'verify-transfer', 1))
  checks.expect('the verdict is "match"', readOutput(run).verdict === 'match')
  const report = await readJson(join(dataDir, 'reports', `${transfer.id}.json`))
  checks.expect('the report on disk says the same', report?.verdict === 'match')
  checks.expect('the file has arrived', (await sandbox.storage('storage_b').read('/archive/report.pdf')).length === 28)
}

async function deliverAgain({ sandbox, store }: DemoStage, checks: Checks): Promise<void> {
  const [event] = await store.listEvents({ limit: 1, type: 'transfer.completed' })
  const eventId = event?.id ?? ''
  const before = (await store.listRuns({ limit: 1_000 })).length
  await sandbox.deliveries.resend(eventId)
  const again = await until('it arrives again', async () =>
    (await store.listDeliveries({ limit: 50 })).find((row) => row.eventId === eventId && row.verdict === 'duplicate'),
  )
  checks.expect('the ledger calls it a duplicate', again.verdict === 'duplicate')
  checks.expect('no run was started', (await store.listRuns({ limit: 1_000 })).length === before)
}

async function forgeDelivery(stage: DemoStage, checks: Checks): Promise<void> {
  const event = {
    id: 'evt_forged',
    type: 'transfer.completed',
    created: new Date().toISOString(),
    data: { transfer: { id: 'trf_forged' } },
  }
  const response = await fetch(await stage.endpointUrl(), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Service-Signature': '0'.repeat(64) },
    body: JSON.stringify(event),
  })
  checks.expect('the answer is 401', response.status === 401)
  const row = await until('the ledger lists it', async () =>
    (await stage.store.listDeliveries({ limit: 10 })).find(({ verdict }) => verdict === 'bad_signature'),
  )
  checks.expect('the ledger says why', row.facts.reason === 'mismatch')
  const events = await stage.store.listEvents({ limit: 1_000 })
  checks.expect('no such event is stored', !events.some(({ id }) => id === 'evt_forged'))
}

async function failTransfer({ sandbox, store, dataDir }: DemoStage, checks: Checks): Promise<void> {
  const transfer = await sandbox.transfers.start({
    from: ['storage_a', '/out/report.pdf'],
    to: ['storage_c', '/backup/'],
    failAt: 0.5,
  })
  await until('the failure is followed up', () => completedRuns(store, 'alert-failed-transfer', 1))
  const alert = await readJson(join(dataDir, 'alerts', `${transfer.id}.json`))
  checks.expect('the alert on disk names the transfer', String(alert?.text).includes(transfer.id))
  checks.expect('the alert says that the source is still there', alert?.source === 'still there')
}

async function killInTheMiddle(stage: DemoStage, checks: Checks): Promise<void> {
  const { sandbox, store, dataDir } = stage
  // A slow service keeps the run busy long enough to be killed.
  await sandbox.faults.add({ on: 'files.get', latencyMs: 300 })
  await sandbox.faults.add({ on: 'files.download', latencyMs: 300 })
  await sandbox.storage('storage_a').put('/out/second.pdf', 'another report\n')
  const transfer = await sandbox.transfers.start({
    from: ['storage_a', '/out/second.pdf'],
    to: ['storage_b', '/archive/'],
  })
  const half = await until('the run has finished a step', () => findHalfDone(store))
  const pid = stage.pid
  await stage.killApp()
  const before = await finishedSteps(store, half)
  checks.expect(
    `process ${pid} is dead, its run unfinished after ${before.length} ${before.length === 1 ? 'step' : 'steps'}`,
    await isUnfinished(store, half),
  )
  await sandbox.faults.clear()
  await stage.startApp()
  const run = await until('the run completes', async () => {
    const found = await store.findRun(half)
    return found?.status === 'completed' ? found : null
  })
  const after = await finishedSteps(store, half)
  checks.expect('the run is completed by a new process', readOutput(run).verdict === 'match')
  checks.expect(
    'no finished step ran again',
    before.every((step) => after.includes(step)),
  )
  checks.expect('its report is on disk', existsSync(join(dataDir, 'reports', `${transfer.id}.json`)))
}

/** The completed runs of a workflow; null while there are fewer than `count`. */
async function completedRuns(store: Store, workflow: string, count: number): Promise<Run[] | null> {
  const runs = await store.listRuns({ limit: 100, workflow, status: 'completed' })
  return runs.length >= count ? runs : null
}

async function findHalfDone(store: Store): Promise<string | null> {
  for (const run of await store.listRuns({ limit: 10, workflow: 'verify-transfer', status: 'running' })) {
    if ((await store.listSteps(run.id)).some((step) => step.status === 'completed')) return run.id
  }
  return null
}

async function isUnfinished(store: Store, runId: string): Promise<boolean> {
  return (await store.findRun(runId))?.status === 'running'
}

/** Each finished step with its finish time, which would differ if the step ran again. */
async function finishedSteps(store: Store, runId: string): Promise<string[]> {
  const steps = await store.listSteps(runId)
  return steps.filter((step) => step.status === 'completed').map((step) => `${step.key} ${step.finishedAt}`)
}

function readOutput(run: Run | undefined): { verdict?: string } {
  return JSON.parse(run?.output ?? '{}')
}

async function readJson(path: string): Promise<Record<string, unknown> | null> {
  return existsSync(path) ? JSON.parse(await readFile(path, 'utf8')) : null
}

const NEW_FILES = 9

/** A clean-up wants a quarter of a folder, which is over its share: people decide. */
const cleanUpTooMuch: Scene = async (stage, checks) => {
  const { sandbox, store } = stage
  for (let number = 1; number <= NEW_FILES; number++) {
    await sandbox.storage('storage_a').put(`/exports/new-${number}.csv`, `export ${number}\n`)
  }
  await askForCleanUp(stage)
  const approval = await until('the guard holds the deletes', async () => {
    const [open] = await store.listApprovals({ status: 'open', limit: 1, now: systemClock.now() })
    return open
  })
  const items = await store.listApprovalItems({ approval: approval.id, limit: 10 })
  checks.expect('the guard holds all three deletes and lists them', items.length === OLD_EXPORTS.length)
  checks.expect('nothing is deleted meanwhile', listFolder(sandbox).length === NEW_FILES + OLD_EXPORTS.length)
  checks.tell(`a person sees the list (upshot approvals show ${approval.id}) and approves it`)
  const { id, hash } = approval
  const word = { actor: 'demo', reason: 'these are last year’s', only: null, answer: null, signature: null }
  await store.decideApproval({ approval: id, verdict: 'approved', hash, ...word }, systemClock.now())
  await until('the run goes on', () => isCleanUpDone(stage))
  const left = listFolder(sandbox)
  const isExact = left.length === NEW_FILES && !OLD_EXPORTS.some((path) => left.includes(path))
  checks.expect('exactly the approved files are deleted', isExact)
  const [path = ''] = OLD_EXPORTS
  const rows = await store.listEffects({ path, limit: 10 })
  checks.tell(`the ledger tells who deleted a file (upshot effects of ${path})`)
  checks.expect(
    'it names the run, the approval and who agreed',
    rows.some(({ runId, approval: under, actor }) => runId !== null && under === id && actor === 'demo'),
  )
}

function listFolder(sandbox: Sandbox): string[] {
  const paths = sandbox
    .storage('storage_a')
    .list()
    .map(({ path }) => path)
  return paths.filter((path) => path.startsWith('/exports/'))
}

async function askForCleanUp({ store, receiverUrl }: DemoStage): Promise<void> {
  const [endpoint] = await store.listEndpoints()
  if (!endpoint) return
  const now = systemClock.now()
  const event = { id: newId('evt', now), type: 'cleanup.asked', created: isoTime(now), data: { path: '/exports' } }
  await sendEvent(event, { endpoint, receiver: receiverUrl, now, signal: AbortSignal.timeout(10_000) })
}

async function isCleanUpDone({ store }: DemoStage): Promise<boolean> {
  return (await store.listRuns({ workflow: 'clean-up', status: 'completed', limit: 1 })).length > 0
}

const SCENES: [title: string, scene: Scene][] = [
  ['A file is dropped into a storage: its workflow records it.', dropFile],
  ['A transfer completes: the source and its copy are compared.', completeTransfer],
  ['The service delivers the same event again: nothing runs twice.', deliverAgain],
  ['A delivery is forged: it is refused.', forgeDelivery],
  ['A transfer fails halfway: an alert is written.', failTransfer],
  ['A clean-up asks for more than it may: people decide, and the ledger tells.', cleanUpTooMuch],
  ['The app is killed during a run (kill -9) and started again.', killInTheMiddle],
]
