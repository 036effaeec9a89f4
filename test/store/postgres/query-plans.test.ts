import { expect, test } from 'vitest'
import { PAUSED_REASON, type RunFilter } from '../../../src/core/runs/run.ts'
import { PRUNE_KINDS, type PruneBounds, type PruneQuestion } from '../../../src/core/store/retention.ts'
import type { ReadStore, Store } from '../../../src/core/store/store.ts'
import { concurrency, planAdmission, throttle } from '../../contract/support/ask-admission.ts'
import { beginDelete, beginWrite } from '../../contract/support/begin-delete.ts'
import { PARK, WAIT, WAITING } from '../../contract/support/waiting-runs.ts'
import { checkpoint, incoming, NOW } from '../../support/fixtures.ts'
import { countRowsRead, type RowsRead } from './support/count-rows-read.ts'
import { FILLED_ROWS, fillTables, LARGE_TABLE } from './support/fill-tables.ts'
import { openWithClient } from './support/open-with-client.ts'

const N = FILLED_ROWS
const [RUN, EVENT] = ['run_00000000000000000003011', 'evt_of_ours']
const SLICE = { rows: 100, limit: 20, after: null }
const RUNS = [RUN]
const HOUR = 3_600_000

/** Everything that the tables hold is older. */
const OLD = Object.fromEntries(PRUNE_KINDS.map((kind) => [kind, N * HOUR])) as PruneBounds

/** Reads that come from memory, or read no table. */
type Composed = 'packOutput' | 'watch' | 'readSetupVersion' | 'findEndpoint' | 'listEndpoints' | 'listRoutes'

/** Every read of the port, with the values that make it read most. */
const READS: { [Name in Exclude<keyof ReadStore, Composed>]: Parameters<ReadStore[Name]>[] } = {
  listEndpointNames: [[]],
  listEndpointUses: [[]],
  listSecretUses: [['end_1']],
  findAccount: [['default']],
  listAccounts: [[]],
  listDeliveries: [
    [{ limit: 20 }],
    [{ limit: 20, endpointId: 'end_1' }],
    [{ limit: 20, verdicts: ['conflict'] }],
    [{ limit: 20, verdicts: ['bad_signature'] }],
    [{ limit: 20, verdicts: ['duplicate'], since: 0 }],
  ],
  listDeliveryIds: [['dlv_0000000000000000000', 20]],
  listDeliveriesOf: [[{ id: EVENT, account: 'default' }, 20]],
  countDeliveries: [],
  countPrunable: PRUNE_KINDS.map((kind): [PruneQuestion] => [{ kind, bounds: OLD, now: N * HOUR, limit: 100 }]),
  findDelivery: [['dlv_00000000000000000003011']],
  tallyRefusals: [[]],
  tallyUnmatched: [[]],
  listCaptures: [['end_1']],
  findHook: [['hok_00000000000000000000000001']],
  listHooks: [['run_1']],
  listEvents: [[{ limit: 20 }], [{ limit: 20, type: 'file.created', since: (N - 100) * HOUR }]],
  searchEvents: [
    [{}, SLICE],
    [{ idBeginning: 'evt_none' }, SLICE],
  ],
  walkEvents: [[{}, SLICE]],
  findEvents: [[EVENT]],
  listEventsOf: [['run', RUNS]],
  listRuns: [
    [{ limit: 20 }],
    [{ limit: 20, workflow: 'w1' }],
    [{ limit: 20, status: 'failed' }],
    [{ limit: 20, status: 'failed', workflow: 'w1' }],
    [{ limit: 20, status: 'running' }],
    [{ limit: 20, eventId: EVENT }],
    [{ limit: 20, originRun: RUN }],
    [{ limit: 20, parentRun: RUN }],
    [{ limit: 20, tags: [['customer', 'c1']] }],
    [
      {
        limit: 20,
        tags: [
          ['customer', 'c1'],
          ['region', 'r3'],
        ],
        workflow: 'w1',
      },
    ],
  ],
  searchRuns: [
    [{}, SLICE],
    [{ status: 'failed' }, SLICE],
    [{ workflow: 'none' }, SLICE],
    [{ tags: [['customer', 'c1']], status: 'completed' }, SLICE],
    [
      {
        tags: [
          ['region', 'r3'],
          ['customer', 'none'],
        ],
      },
      SLICE,
    ],
  ],
  groupFailures: [
    [{ tags: [['customer', 'c1']] }, SLICE],
    [{}, SLICE],
    [{ workflow: 'w1' }, SLICE],
  ],
  listEndedFailures: [[{ after: { at: N - 100, run: '' }, until: N, limit: 20 }]],
  listFailureStates: [[['grp_1']]],
  listSettledFailures: [[[{ id: 'grp_1', since: 0 }]] as never],
  findRun: [[RUN]],
  findInvoked: [[RUN, 'a']],
  readRecordings: [[RUNS]],
  listEndedWaits: [[RUN]],
  listRunIds: [['run_0000000000000000000', 20]],
  listRunEvents: [[RUN]],
  hasNewerFolded: [[RUN]],
  hasSuspects: [[]],
  findClaimable: [['wrk_1', NOW]],
  nextDueAt: [[]],
  countOpenRuns: [],
  tallyForPerson: [[]],
  listRunLog: [[RUN]],
  listSteps: [[RUN]],
  listSends: [[RUN, 100]],
  readOutput: [[RUN, 'a']],
  listStepFailures: [[RUN]],
  listDeletes: [['default', ['a:9']]],
  readSubjects: [],
  findUnmatchedSince: [[]],
  findMatch: [[RUN, 'a']],
  listMatchCursors: [[]],
  listEventsAfter: [[{ stream: 0, after: 8 * (N - 50), to: 8 * N, types: ['file.created'] }] as never],
  loadAlertBook: [['failures']],
  loadShapeBook: [[]],
  loadSweep: [['default', 'storage_a']],
  listSweeps: [[]],
  listSuspects: [[{ sweep: 1, after: null, limit: 100 }] as never],
  countFiles: [[{ sweep: 1, account: 'default', storage: 'storage_a', after: null, limit: 100 }] as never],
  listReportedFiles: [[{ account: 'default', storage: 'storage_a', type: 'file.created', files: ['fil_1'] }]],
  hasOwnDelete: [['default', ['a:9']]],
  loadFileBook: [[]],
  findFinding: [[{ account: 'default', storage: 'storage_a', file: 'fil_1', type: 'file.created' }]],
  listFindings: [[{ limit: 20 }], [{ states: ['due'], limit: 20 }], [{ since: N - 100, limit: 20 }]],
  listSeals: [[{ limit: 20 }], [{ after: N - 10, limit: 20 }]],
  listTextTables: [[]],
  // It goes through every table, a stretch at a time.
  findTexts: [],
  listSealKeys: [[]],
  listLostBegins: [[{ prunedTo: 0, limit: 20 }]],
  readSealState: [[]],
  listLeases: [['wrk_2']],
  listWorkflows: [[]],
  listSchedules: [[{ limit: 9 }], [{ limit: 9, workflow: 'w1' }], [{ limit: 9, order: 'next' }]],
  findSchedule: [['nightly']],
  listDueSchedules: [
    [N * HOUR, { limit: 9 }],
    [N * HOUR, { limit: 9, after: { nextAt: 5, id: 'a' } }],
  ],
  nextScheduleAt: [[0]],
  tallyMissed: [[]],
  listTickMoments: [['w1', { from: 0, to: N * HOUR, accounts: 1, limit: 9 }]],
  loadLimit: [['key']],
  listLimits: [[]],
  listActions: [[{ limit: 20 }], [{ limit: 20, target: RUN }], [{ limit: 20, since: 1 }]],
  listEffects: [
    [{ limit: 20 }],
    [{ limit: 20, target: 'a:9' }],
    [{ limit: 20, path: '/9' }],
    [{ limit: 20, workflow: 'w1' }],
    [{ limit: 20, runId: RUN }],
    [{ limit: 20, after: N - 100 }],
  ],
  searchEffects: [
    [{}, SLICE],
    [{ account: 'none' }, SLICE],
  ],
  pageEffects: [[{ beyond: null, limit: 20 }]],
  listStops: [[]],
  listGuardUse: [[NOW]],
  listApprovals: [
    [{ limit: 20, now: 0 }],
    [{ limit: 20, now: 0, status: 'open' }],
    [{ limit: 20, now: 0, status: 'open', workflow: 'w1' }],
  ],
  findApproval: [['apr_00000000000000000003000', NOW]],
  listApprovalIds: [['apr_0000000000000000000', 20]],
  listApprovalItems: [[{ approval: 'apr_00000000000000000003000', limit: 20 }]],
  findQuestion: [[RUN, 'a', NOW]],
  listApprovers: [[]],
  listVotes: [[{ approval: 'apr_00000000000000000003000' }] as never],
  findSession: [['hash']],
  findLoginCode: [['hash', NOW]],
  listSessions: [[NOW]],
  findToken: [['hash']],
  listTokens: [[]],
  findDueHour: [[NOW]],
  readHourRuns: [[0, null]],
  countHourRuns: [[0, { rows: 100, after: null }]],
  readHourDeliveries: [],
  listRunHours: [[{ since: (N - 100) * HOUR }]],
  listDeliveryHours: [[(N - 100) * HOUR]],
  countRuns: [],
  readClock: [[]],
  readServerState: [[]],
  readServerRoom: [[N * HOUR]],
  listProcesses: [[]],
  findBulk: [['opr_1']],
  listBulks: [[{ limit: 20 }]],
  listEndedBulks: [[{ since: N - 100, until: N, limit: 20 }]],
  listBulkRefusals: [['opr_1']],
}

/** A delivery, a claim, each end of a run, a delete, a wait, a match and a recovery. */
async function tryWrites(store: Store): Promise<void> {
  await store.startWorker('wrk_2', NOW)
  await store.saveDelivery(incoming(EVENT))
  await store.saveDelivery(incoming(EVENT))
  const runs = await store.claimRuns('wrk_2', 9, NOW)
  const [one, two, three, four, five, six, seven, eight] = runs.map(({ lease }) => lease)
  if (!one || !two || !three || !four || !five || !six || !seven || !eight) throw new Error('too few runs to claim')
  await store.listLeases('wrk_2')
  for (const lease of [one, two]) {
    await store.admitRun(
      lease,
      planAdmission({
        gates: [
          { ...concurrency, most: 5 },
          { ...throttle, most: 5 },
        ],
      }),
      NOW,
    )
  }
  await store.saveCheckpoint(one, checkpoint('b'), undefined, { tags: { customer: 'c1' } })
  await store.saveTags(one, { region: 'r1' })
  await store.saveProgress(one, { done: 1, total: 2, failed: 0, note: null, rate: null, at: NOW })
  await store.completeRun(one, 'null', NOW)
  await store.failRun(two, { name: 'Error', message: 'no luck' }, NOW)
  await store.saveCheckpoint(three, WAITING, undefined, { wait: WAIT })
  await store.parkRun(three, PARK)
  await beginDelete(store, four, checkpoint('d', { effect: 'delete', target: 'a:9' }))
  await store.releaseRun(four)
  await store.cancelRun(five.runId, 'by hand', NOW)
  await store.skipRun(six, 'for no reason', NOW)
  await store.admitRun(seven, planAdmission({ gates: [{ ...concurrency, most: 5 }] }), NOW)
  await store.completeRun(seven, 'null', NOW)
  const write = checkpoint('w', { target: 'a:9' })
  await beginWrite(store, eight, write)
  const send = { id: 'evt_sent', type: 'x', account: 'default', createdAt: NOW, body: '{}', workflows: ['w1'] }
  const invoke = { run: RUN.replace('3011', '3999'), workflow: 'w1', account: 'default', input: '1', createdAt: NOW }
  await Promise.all([
    store.saveCheckpoint(eight, write, undefined, { effect: { input: null } }),
    store.saveCheckpoint(eight, checkpoint('s', { kind: 'send', target: 'x' }), undefined, { send }),
    store.saveCheckpoint(eight, checkpoint('i', { kind: 'invoke', status: 'waiting' }), undefined, { invoke }),
    store.parkRun(eight, { ...PARK, awaits: ['i'] }),
  ])
  await store.retryRun(two.runId, NOW)
  const { cursors, newest } = await store.listMatchCursors()
  const [cursor] = cursors
  if (cursor === undefined) throw new Error('no run waits')
  const to = newest.get(cursor.stream) ?? 0
  await store.saveMatches({ cursors: [cursor], stream: cursor.stream, from: cursor.position, to, keys: [] }, NOW)
  await store.recoverRuns(NOW + HOUR, 1_000)
}

/** Most rows that a statement may read of a large table. Slices and pages are smaller. */
const MAX_READ = 1_000

/**
 * Calls of people and of upkeep that sort what they find as long as the server has no statistics.
 */
const FRESH = [
  'countHourRuns',
  'listApprovalIds',
  'listDeliveryIds',
  'listEffects',
  'listRunIds',
  'listRuns',
  'readHourRuns',
]
/** A verification compares every step that has begun an effect with the ledger. */
const WHOLE = 'listLostBegins'
const KNOWN: Record<string, readonly string[]> = {
  fresh: [...FRESH, 'prune deliveries', 'prune refusals', WHOLE],
  // A slice of an hour is 5,000 runs. A slice of failures may be joined with the runs between.
  analyzed: ['groupFailures', 'readHourRuns', WHOLE],
}

test('no call reads a table from end to end, with statistics or without', async () => {
  const { store, client } = await openWithClient()
  await fillTables(client)
  const counts = countRowsRead()
  for (const when of ['fresh', 'analyzed']) {
    if (when === 'analyzed') await client.query('ANALYZE')
    expect(await listWideReads(store, counts, when), when).toEqual([])
  }
})

/** Unfinished runs that are counted at the most before a list of one status. */
const MAX_COUNTED = 5_001
const WAITS = 20_000

test('lists and counts of runs that wait read few of them, however many wait', async () => {
  const { store, client } = await openWithClient()
  const id = `'run_' || lpad(n::text, 23, '0')`
  const numbers = `generate_series(1, ${WAITS}) AS n`
  await client.query(`INSERT INTO run (id, workflow, created_at) SELECT ${id}, 'w1', n FROM ${numbers}`)
  await client.query(
    `INSERT INTO work (run_id, workflow, status, awaits, due_at, reason)
     SELECT ${id}, 'w1', 'waiting', CASE n % 3 WHEN 0 THEN 1 ELSE 0 END, CASE n % 3 WHEN 1 THEN ${NOW + HOUR} END,
       CASE n % 3 WHEN 2 THEN '${PAUSED_REASON}' END FROM ${numbers}`,
  )
  await client.query('VACUUM ANALYZE run, work')
  const counts = countRowsRead()
  const list = async (filter: RunFilter) =>
    (await store.searchRuns(filter, SLICE)).items.map(({ createdAt }) => createdAt)
  const newest = Array.from({ length: SLICE.limit }, (_, n) => WAITS - n)
  expect(await list({ status: 'waiting' })).toEqual(newest)
  expect(await list({ status: 'waiting', workflow: 'w1' })).toEqual(newest)
  expect(await list({ status: 'pending' })).toEqual([])
  expect(await list({ waitsForPerson: true })).toEqual([])
  await store.countRuns(0)
  const wide = counts.filter(({ text, rows }) =>
    Object.values(rows).some((read) => read > (text.includes('AS few') ? MAX_COUNTED : MAX_READ)),
  )
  expect(wide).toEqual([])
})

/** The calls of which a statement read more rows of a large table than it should. */
async function listWideReads(store: Store, counts: RowsRead[], when: string): Promise<string[]> {
  const wide: string[] = []
  const watch = async (name: string, call: () => Promise<unknown>) => {
    counts.length = 0
    await call()
    if (KNOWN[when]?.includes(name)) return
    for (const { text, rows } of counts) {
      const much = Object.entries(rows).filter(([table, read]) => LARGE_TABLE.test(table) && read > MAX_READ)
      for (const [table, read] of much) wide.push(`${name} reads ${read} of ${table}: ${text.replace(/\s+/g, ' ')}`)
    }
  }
  for (const [name, calls] of Object.entries(READS)) {
    const read = store[name as keyof ReadStore] as (...args: unknown[]) => Promise<unknown>
    for (const args of calls) await watch(name, () => read(...args))
  }
  await watch('writes', () => tryWrites(store))
  for (const kind of PRUNE_KINDS) {
    await watch(`prune ${kind}`, () => store.prune({ kind, before: 500, limit: 10, after: null }))
  }
  return wide
}
