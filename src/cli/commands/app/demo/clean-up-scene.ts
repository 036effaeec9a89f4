import { sendEvent } from '../../../../app/send/send-event.ts'
import { newId } from '../../../../core/ids.ts'
import { isoTime, systemClock } from '../../../../core/time.ts'
import type { Sandbox } from '../../../../sandbox/index.ts'
import type { Scene } from './checks.ts'
import { type DemoStage, OLD_EXPORTS, until } from './demo-stage.ts'

const NEW_FILES = 9

/** A clean-up wants a quarter of a folder, which is over its share: people decide. */
export const cleanUpTooMuch: Scene = async (stage, checks) => {
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
