import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { newId } from '../../src/core/ids.ts'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { EffectAsk } from '../../src/core/safety/effect.ts'
import type { Limit } from '../../src/core/safety/guard.ts'
import { carryOut, carryOutAll } from '../../src/core/store/as-operator.ts'
import type { Store } from '../../src/core/store/store.ts'
import { askInParts } from '../../src/engine/steps/guard/ask-in-parts.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import { answerCalls } from '../processes/answer-calls.ts'
import { percentile } from '../report/result.ts'

/** Long lists of deletes, with deliveries beside them to the same store. */
const WORKFLOW = 'clean-up'
const PACE_MS = 5
const STOP = { kind: 'workflow', name: WORKFLOW } as const

/** A list under way: its time, and the time that 99 of 100 deliveries beside it stay below. */
export interface Beside {
  ms: number
  p99: number
}

let store: Store
/** The run whose list is held. */
let held: Lease
const worker = newId('wrk', Date.now())

async function deliver(workflows: string[]): Promise<void> {
  const now = Date.now()
  const event = { id: `evt_${randomUUID()}`, type: 'file.created', created: '2026-01-05T09:31:13.000Z' }
  const delivery = { id: newId('dlv', now), endpointId: 'end_bench', account: 'default', receivedAt: now, event }
  await store.saveDelivery({ ...delivery, facts: {}, body: JSON.stringify(event), workflows })
}

async function watch(work: () => Promise<unknown>): Promise<Beside> {
  const times: number[] = []
  let isOver = false
  const startedAt = performance.now()
  const done = work().finally(() => {
    isOver = true
  })
  while (!isOver) {
    const sentAt = performance.now()
    await deliver([])
    times.push(performance.now() - sentAt)
    await wait(PACE_MS)
  }
  await done
  return { ms: performance.now() - startedAt, p99: percentile(times, 0.99) }
}

function makeAsks(count: number, most: number): EffectAsk[] {
  const limit: Limit = {
    scope: `run/${randomUUID()}`,
    what: 'deletes',
    window: 'run',
    most,
    setting: 'guard.workflow.deletes.perRun',
    over: 'approve',
  }
  const now = Date.now()
  return Array.from({ length: count }, (_, position) => {
    const target = `storage_a:fil_${randomUUID()}`
    const step = { key: `files.delete[${target}]`, position, kind: 'run', effect: 'delete', target } as const
    const state = { status: 'waiting', attempt: 0, output: null, error: null } as const
    const asked = { path: `/in/${position}.bak`, bytes: 10, modifiedAt: '2026-01-01T00:00:00Z' }
    return {
      step: { ...step, ...state, startedAt: now, finishedAt: null, dueAt: null },
      class: 'delete',
      operation: 'files.delete',
      workflow: WORKFLOW,
      account: 'default',
      storage: 'storage_a',
      asked,
      limits: [limit],
    }
  })
}

async function claimRun(): Promise<Lease> {
  await deliver([WORKFLOW])
  const [claimed] = await store.claimRuns(worker, 1, Date.now())
  if (!claimed) throw new Error('no run was claimed')
  return claimed.lease
}

async function holdByStop(): Promise<void> {
  const lease = await claimRun()
  const asks = makeAsks(1, 1)
  const now = Date.now()
  await store.beginEffects(lease, asks, { now, needs: 1, expiresAt: now + 86_400_000 })
  await store.parkRun(lease, { dueAt: null, reason: 'stopped', awaits: asks.map(({ step }) => step.key) })
}

answerCalls({
  async open({ file }: { file: string }): Promise<void> {
    store = openThreadedStore({ file, vaultKey: Buffer.alloc(32) })
    await store.startWorker(worker, Date.now())
  },
  /** Begins a list of deletes as the engine does; with no room, people are asked. */
  async begin({ count, hasRoom }: { count: number; hasRoom: boolean }): Promise<Beside> {
    const lease = await claimRun()
    if (!hasRoom) held = lease
    const now = Date.now()
    const asks = makeAsks(count, hasRoom ? count : 0)
    const journal = {
      takeList: () => 0,
      beginEffects: () => Promise.reject(new Error('a long list begins in parts')),
      reserveEffects: store.reserveEffects.bind(store, lease),
      beginPart: store.beginPart.bind(store, lease),
    }
    const options = { now, needs: 1, expiresAt: now + 86_400_000 }
    return watch(() => askInParts(journal, lease.runId, { asks, options }))
  },
  /** Approves the first half of the open list. */
  async approveHalf(count: number): Promise<Beside> {
    const now = Date.now()
    const [open] = await store.listApprovals({ status: 'open', limit: 1, now })
    if (!open) throw new Error('no list is open')
    const part = { only: [{ from: 1, to: count / 2 }], answer: null, signature: null }
    const word = { approval: open.id, verdict: 'approved', actor: 'bench', reason: null, hash: open.hash } as const
    return watch(async () => {
      const decided = await store.decideApproval({ ...word, ...part }, now)
      await carryOut(store, decided, { now: () => now })
    })
  },
  /** Lets the held list ask again, as new limits do. */
  askAgain: (): Promise<Beside> =>
    watch(async () => {
      await store.askAgain()
      await carryOutAll(store, Date)
    }),
  /** Cancels the run whose list is held: all of its items are taken back. */
  cancel: (): Promise<Beside> =>
    watch(async () => {
      await store.cancelRun(held.runId, 'measured', Date.now())
      await carryOutAll(store, Date)
    }),
  /** Ends a stop that holds as many runs. */
  async resume(count: number): Promise<Beside> {
    const by = { actor: 'bench', reason: null }
    await store.stopEffects({ ...STOP, since: Date.now(), actor: 'bench', reason: 'measured' })
    for (let n = 0; n < count; n++) await holdByStop()
    return watch(async () => {
      await store.resumeEffects(STOP, { ...by, now: Date.now() })
      await carryOutAll(store, Date)
    })
  },
  close: () => store.close(),
})
