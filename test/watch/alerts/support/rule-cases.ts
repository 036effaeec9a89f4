import { cron } from '../../../../src/author/cron.ts'
import type { AlertKind, AlertRule } from '../../../../src/core/alerts/alert-rule.ts'
import { newId } from '../../../../src/core/ids.ts'
import { planEndpoint } from '../../../../src/core/incoming/endpoint.ts'
import { beginSweep, newState } from '../../../../src/core/service/sweep/sweep-state.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { beginDelete } from '../../../contract/support/begin-delete.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { checkpoint, incoming, NOW, queueRun } from '../../../support/fixtures.ts'
import { saveLine } from '../../../support/lines.ts'
import { failRun, RULE } from './open-alerts.ts'

/** A store, and the disk that the watches on it see. */
export interface Scene {
  store: Store
  disk: { use: number }
}

interface RuleCase {
  rule?: Partial<AlertRule>
  /** Before the first look, at `NOW`. */
  prepare?: (scene: Scene) => Promise<unknown>
  /** Does what the rule tells of, one second after `NOW`. */
  happen: (scene: Scene) => Promise<unknown>
  /** Makes it be over; without it, it is over by itself, or a thing that is told once. */
  end?: (scene: Scene, at: number) => Promise<unknown>
  /** Part of the message. */
  title: RegExp
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
const AT = NOW + 1_000
const SWEPT = { account: 'default', storage: 'storage_a' } as const
const FOUND = { type: 'file.created', state: 'found', foundAt: AT, path: '/a', entry: '{}' } as const
const BROKEN = {
  id: 'prc_1',
  role: 'worker',
  pid: 1,
  version: '1',
  adminUrl: '',
  receiverUrl: '',
  startedAt: AT,
  broken: [{ file: 'stuck.workflow.ts', reason: 'it loops' }],
}
const UNDECIDED = { reason: null, approval: null, event: null, lateEvent: null }

/** A case for each built-in rule. Those that claim a run come before those that leave one. */
export const RULE_CASES: Record<AlertKind, RuleCase> = {
  'run.failed': { happen: ({ store }) => failRun(store, AT), title: /fails at “copy” with Error/ },
  'run.waits': {
    happen: async ({ store }) => {
      await queueRun(store, 'evt_waits', 'copies')
      await store.parkRun((await claimNext(store, AT)).lease, { dueAt: null, reason: 'it diverged' })
    },
    end: async ({ store }, at) => {
      for (const { id } of await store.listRuns({ workflow: 'copies', limit: 9 })) await store.cancelRun(id, 'no', at)
    },
    title: /copies waits for a person/,
  },
  'approval.asked': {
    happen: async ({ store }) => {
      await queueRun(store, 'evt_asks', 'tidy')
      const step = checkpoint('a', { effect: 'delete', target: 'storage_a:a' })
      const limit = {
        scope: 'all',
        what: 'deletes',
        window: 'hour',
        most: 0,
        setting: 'guard',
        over: 'approve',
      } as const
      await beginDelete(store, (await claimNext(store, AT)).lease, step, { limits: [limit], now: AT })
    },
    end: async ({ store }, at) => {
      const [open] = await store.listApprovals({ status: 'open', limit: 1, now: at })
      const about = { approval: open?.id ?? '', hash: open?.hash ?? '', actor: 'anna', reason: 'seen' }
      await store.decideApproval({ ...about, verdict: 'denied', only: null, answer: null, signature: null }, at)
    },
    title: /asks to be allowed 1 effects/,
  },
  'endpoint.suspect': {
    prepare: async ({ store }) => take(store, await addEndpoint(store, 'shop'), NOW - 2 * HOUR),
    happen: async ({ store }) => {
      const about = { endpointId: await findEndpoint(store, 'shop'), receivedAt: AT, bodyBytes: 9, facts: {} }
      await store.saveRefusal({ ...about, id: newId('dlv', AT), verdict: 'bad_signature' })
    },
    end: async ({ store }, at) => take(store, await findEndpoint(store, 'shop'), at),
    title: /signatures of the endpoint shop fail/,
  },
  'endpoint.silent': {
    rule: { forMs: HOUR },
    prepare: async ({ store }) => {
      const endpointId = await addEndpoint(store, 'office')
      let counted: number | null = null
      for (const day of [1, 2, 3, 4, 5]) {
        const hour = Math.floor((NOW - day * DAY - HOUR / 2) / HOUR)
        const counts = { hour, endpointId, verdict: 'accepted', deliveries: 3 } as const
        await store.saveHour({ hour, version: 0, counted }, { runs: [], deliveries: [counts] })
        counted = hour
      }
      await take(store, endpointId, NOW - HOUR)
    },
    // Its last delivery is more than an hour ago from here on.
    happen: async () => {},
    end: async ({ store }, at) => take(store, await findEndpoint(store, 'office'), at),
    title: /the endpoint office takes nothing/,
  },
  'tick.missed': {
    prepare: async ({ store }) => {
      const nightly = { id: 'nightly', file: 'nightly.workflow.ts', eventTypes: [], schedule: cron('0 3 * * *') }
      await store.saveWorkflows({ workflows: [nightly], broken: [] }, NOW)
      await saveLine(store, 'nightly', NOW)
    },
    happen: ({ store }) => store.recordTick('nightly', { scheduledFor: AT, missed: 2 }, AT),
    title: /nightly missed ticks/,
  },
  'event.missing': {
    happen: async ({ store }) => {
      const plan = {
        ...SWEPT,
        path: '/',
        recursive: true,
        everyMs: 1,
        budget: 0.1,
        graceMs: 1,
        repair: 'events',
      } as const
      const state = { ...beginSweep(newState(plan, null), AT), phase: 'idle' } as const
      const kept = { ...SWEPT, state, version: 0, forgottenTo: null }
      const finding = { ...SWEPT, file: 'fil_1', sweep: 1, ...FOUND, ...UNDECIDED }
      await store.saveSweep(kept, { findings: [finding], settle: { state: 'due', held: null } })
    },
    title: /no event told of files in storage_a/,
  },
  'effect.outside': {
    happen: ({ store }) =>
      store.noteOutside({
        at: AT,
        call: 'fetch DELETE',
        where: 'past_files',
        host: 'api.example.com',
        step: 'by hand',
        place: 'tidy.workflow.ts:9:3',
        run: 'run_1',
        workflow: 'tidy',
      }),
    title: /tidy calls fetch DELETE to api\.example\.com past `files`, at tidy\.workflow\.ts:9:3/,
  },
  'module.broken': {
    // It lives for as long as the test looks.
    happen: ({ store }) => store.beatProcess({ ...BROKEN, seenAt: AT + HOUR }),
    end: ({ store }, at) => store.beatProcess({ ...BROKEN, seenAt: at, broken: [] }),
    title: /stuck\.workflow\.ts cannot be loaded: it loops/,
  },
  'disk.low': {
    rule: { over: 0.9 },
    happen: async ({ disk }) => {
      disk.use = 0.95
    },
    end: async ({ disk }) => {
      disk.use = 0.5
    },
    title: /95 % of the disk of the database is used/,
  },
  'shadow.differs': {
    rule: { workflow: 'tidy' },
    // As its backtests find, which every watch here has.
    happen: async () => {},
    title: /the shadow of tidy differs: \+ delete files\.delete/,
  },
  'operation.done': {
    happen: async ({ store }) => {
      const operator = { actor: 'anna', role: 'admin', from: 'here', reason: null }
      const plan = { kind: 'cancel', filter: {}, operator, perSecond: null, createdAt: AT } as const
      const id = newId('opr', AT)
      await store.startBulk({ id, ...plan })
      await store.abortBulk(id, AT)
    },
    title: /the operation “cancel” is aborted/,
  },
  'queue.age': {
    rule: { over: 60_000 },
    happen: ({ store }) => queueRun(store, 'evt_stands', 'follow-up', AT),
    end: async ({ store }, at) => {
      await claimNext(store, at)
    },
    title: /the queue stands: \d pending/,
  },
}

/** The rule of a case, with the name of its kind. */
export function ruleOf(when: AlertKind): AlertRule {
  return { ...RULE, name: when, when, ...RULE_CASES[when].rule }
}

async function addEndpoint(store: Store, name: string): Promise<string> {
  const endpoint = planEndpoint({ name }, NOW - 10 * DAY)
  await store.addEndpoint(endpoint)
  return endpoint.id
}

async function findEndpoint(store: Store, name: string): Promise<string> {
  return (await store.listEndpoints()).find((endpoint) => endpoint.name === name)?.id ?? ''
}

/** A delivery whose signature matched, and that starts no run. */
async function take(store: Store, endpointId: string, receivedAt: number): Promise<void> {
  const event = newId('evt', receivedAt)
  await store.saveDelivery(incoming(event, { endpointId, receivedAt, facts: { secret: 0 }, workflows: [] }))
}
