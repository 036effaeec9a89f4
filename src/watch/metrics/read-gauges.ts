import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  COMMIT_SECONDS,
  COMMIT_WRITES,
  type CommitCounts,
  type CommitSpread,
  WAIT_SECONDS,
} from '../../core/commit-counts.ts'
import type { Approval } from '../../core/safety/approval.ts'
import type { SealState } from '../../core/safety/ledger/seal.ts'
import type { OpenRuns } from '../../core/store/runs.ts'
import type { ServerState } from '../../core/store/server.ts'
import type { CounterFamily, Family, GaugeFamily, HistogramFamily, Labels, Reading } from './families.ts'

export interface GaugeSources {
  version: string
  role: string
  /** For each readiness check `ok` or what is wrong. */
  readiness: () => Promise<Record<string, string>>
  countOpenRuns: () => Promise<OpenRuns>
  /** Approvals that wait for people, newest first, up to a bound. */
  listOpenApprovals: () => Promise<readonly Pick<Approval, 'openedAt'>[]>
  readSealState: () => Promise<Pick<SealState, 'unsealed' | 'unsealedSince'>>
  /** Null where the database is a file. */
  readServerState: () => Promise<ServerState | null>
  /** Null in a process without a worker. */
  slots: (() => { total: number; busy: number }) | null
  /** Null in a process without a thread for an engine. */
  memory: () => { heap: number; buffers: number; isShort: boolean } | null
  /** Deliveries that wait for their commit, and bytes of bodies; null without a receiver. */
  intake: (() => { waiting: number; bytes: number }) | null
  /** Requests a minute that each account in use allows. */
  fileLimits: () => readonly { account: string; perMinute: number }[]
  database: string
  commits: CommitCounts
  /** True where the database is on a server of PostgreSQL. */
  isServer: boolean
  /** The clock of the database minus the one of this machine; null where they are one. */
  clockOffsetMs: () => number | null
}

/** The families about this process, which need no database. */
export async function readOwnGauges(sources: GaugeSources): Promise<Family[]> {
  const { version, role, readiness, commits } = sources
  const build = { version, node: process.version, role }
  return [
    gauge('upshot_build_info', 'Always 1; the labels say what runs.', [{ labels: build, value: 1 }]),
    gauge(
      'upshot_ready',
      '1 while the readiness check passes.',
      Object.entries(await readiness()).map(([check, result]) => ({
        labels: { check },
        value: Number(result === 'ok'),
      })),
    ),
    ...describeLoad(sources),
    ...(await readDisk(sources.database)),
    ...describeCommits(commits),
    ...(sources.isServer ? describeCalls(commits, sources.clockOffsetMs()) : []),
  ]
}

/** The families about what is in the database, and about its server. */
export async function readStoreGauges(sources: GaugeSources): Promise<Family[]> {
  const { countOpenRuns, listOpenApprovals, readSealState, readServerState } = sources
  const [runs, approvals, seals, server] = await Promise.all([
    countOpenRuns(),
    listOpenApprovals(),
    readSealState(),
    readServerState(),
  ])
  return [
    ...describeRuns(runs),
    ...describeApprovals(approvals),
    ...describeSeals(seals),
    await readSize(sources.database, server),
    ...(server === null ? [] : describeServer(server)),
  ]
}

function describeRuns(runs: OpenRuns): Family[] {
  const { pending, running, waiting, forPerson, openFailures, oldestPendingAt } = runs
  const statuses = Object.entries({ pending, running, waiting }).map(([status, value]) => ({
    labels: { status },
    value,
  }))
  return [
    gauge(
      'upshot_runs',
      'Unfinished runs in the store, at most 100,001 by status. The same in every process.',
      statuses,
    ),
    gauge('upshot_runs_for_person', 'Waiting runs that only a person lets go on.', [{ labels: {}, value: forPerson }]),
    gauge('upshot_failures_open', 'Failed runs whose kind is neither resolved nor snoozed, at most 100,001.', [
      { labels: {}, value: openFailures },
    ]),
    gauge(
      'upshot_queue_oldest_timestamp_seconds',
      'When the oldest pending run was made; absent while none is pending.',
      oldestPendingAt === null ? [] : [{ labels: {}, value: oldestPendingAt / 1_000 }],
    ),
  ]
}

function describeApprovals(approvals: readonly Pick<Approval, 'openedAt'>[]): Family[] {
  const oldest = approvals.length === 0 ? undefined : Math.min(...approvals.map(({ openedAt }) => openedAt)) / 1_000
  return [
    gauge('upshot_approvals_open', 'Approvals that wait for people, at most 1,000. The same in every process.', [
      { labels: {}, value: approvals.length },
    ]),
    gauge('upshot_approval_oldest_timestamp_seconds', 'When the oldest of them was opened.', one(oldest)),
  ]
}

function describeSeals({ unsealed, unsealedSince }: Pick<SealState, 'unsealed' | 'unsealedSince'>): Family[] {
  return [
    gauge(
      'upshot_ledger_unsealed_rows',
      'Rows of the effect ledger without a seal, at most 10,000. The same in every process.',
      one(unsealed),
    ),
    gauge(
      'upshot_ledger_unsealed_timestamp_seconds',
      'When the oldest of them was written; absent without any.',
      one(unsealedSince === null ? undefined : unsealedSince / 1_000),
    ),
  ]
}

function describeLoad({ slots, memory, intake, fileLimits }: GaugeSources): Family[] {
  const worker = slots?.()
  const held = memory()
  const load = intake?.()
  const limits = fileLimits().map(({ account, perMinute }) => ({ labels: { account }, value: perMinute }))
  return [
    gauge('upshot_worker_slots', 'Runs that this worker may execute at a time.', one(worker?.total)),
    gauge('upshot_worker_slots_busy', 'Runs that this worker executes.', one(worker?.busy)),
    gauge(
      'upshot_engine_memory_bytes',
      'Heap and buffers that code of workflows holds.',
      held === null ? [] : (['heap', 'buffers'] as const).map((of) => ({ labels: { of }, value: held[of] })),
    ),
    gauge('upshot_engine_memory_short', '1 while runs get a tenth of the slots.', one(held && Number(held.isShort))),
    gauge('upshot_receiver_waiting', 'Deliveries that are read and wait for their commit.', one(load?.waiting)),
    gauge('upshot_receiver_bytes', 'Bytes of bodies that are in memory.', one(load?.bytes)),
    gauge('upshot_files_limit_per_minute', 'Requests a minute that the account’s plan allows.', limits),
  ]
}

/** The log of a server is its own; only its database has a size here. */
async function readSize(database: string, server: ServerState | null): Promise<Family> {
  const sizeOf = (path: string) =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    )
  const [main, log] = await Promise.all([sizeOf(database), sizeOf(`${database}-wal`)])
  return gauge('upshot_store_bytes', 'Size of the database and of its log.', [
    { labels: { part: 'database' }, value: server?.databaseBytes ?? main },
    ...(server === null ? [{ labels: { part: 'log' }, value: log }] : []),
  ])
}

async function readDisk(database: string): Promise<Family[]> {
  const disk = await freeBytes(dirname(database))
  return [
    gauge('upshot_disk_free_bytes', 'Free bytes on the disk of the database.', one(disk?.free)),
    gauge('upshot_disk_bytes', 'Size of the disk of the database.', one(disk?.total)),
  ]
}

async function freeBytes(folder: string): Promise<{ free: number; total: number } | null> {
  return statfs(folder).then(
    ({ bavail, blocks, bsize }) => ({ free: bavail * bsize, total: blocks * bsize }),
    () => null,
  )
}

function describeCommits(commits: CommitCounts): Family[] {
  const { seconds, syncSeconds, writes } = commits.read()
  return [
    histogram('upshot_store_commit_duration_seconds', 'Time that a commit took.', COMMIT_SECONDS, [seconds]),
    histogram('upshot_store_sync_duration_seconds', 'Time that a commit waited for the disk.', COMMIT_SECONDS, [
      syncSeconds,
    ]),
    histogram('upshot_store_commit_writes', 'Writes that shared a commit.', COMMIT_WRITES, [writes]),
  ]
}

export function gauge(name: string, help: string, series: readonly Reading[]): GaugeFamily {
  return { kind: 'gauge', name, help, series }
}

export function counter(name: string, help: string, counted: number | Reading[]): CounterFamily {
  return { kind: 'counter', name, help, series: typeof counted === 'number' ? one(counted) : counted }
}

function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
  spreads: readonly (CommitSpread & { labels?: Labels })[],
): HistogramFamily {
  const series = spreads.map(({ counts, sum, labels = {} }) => ({ labels, counts: [...counts], sum, example: null }))
  return { kind: 'histogram', name, help, bounds, series }
}

function one(value: number | null | undefined): Reading[] {
  return value == null ? [] : [{ labels: {}, value }]
}

/** Families about a server of PostgreSQL, the same in every process. */
function describeServer(state: ServerState): Family[] {
  const { connections, mostConnections, oldestTransactionS, deadRows, standbys, lagBytes, weeksUntil } = state
  return [
    gauge('upshot_postgres_connections', 'Sessions of the server, of all programs.', one(connections)),
    gauge('upshot_postgres_connections_max', 'Sessions that the server allows.', one(mostConnections)),
    gauge(
      'upshot_postgres_oldest_transaction_seconds',
      'Age of the oldest transaction that our user may see.',
      one(oldestTransactionS),
    ),
    gauge('upshot_postgres_queue_dead_rows', 'Rows of the queue that vacuum has to remove.', one(deadRows)),
    gauge('upshot_postgres_standbys', 'Standbys that are connected.', one(standbys)),
    gauge('upshot_postgres_standby_lag_bytes', 'Log that the slowest standby has not applied.', one(lagBytes)),
    gauge(
      'upshot_postgres_replicated',
      '1 while a commit waits for a standby before it is answered.',
      one(Number(state.isReplicated)),
    ),
    gauge(
      'upshot_postgres_weeks_until_timestamp_seconds',
      'From then on, runs have no week of their own; absent while none is made.',
      one(weeksUntil === null ? null : weeksUntil / 1_000),
    ),
  ]
}

/**
 * Families about the calls of this process. `clockOffsetMs`: the clock of the database minus the
 * one of this machine; null where that is not known.
 */
function describeCalls(commits: Pick<CommitCounts, 'readServer'>, clockOffsetMs: number | null): Family[] {
  const { waits, hintSeconds, repeats, fates } = commits.readServer()
  return [
    histogram(
      'upshot_postgres_wait_seconds',
      'Time that a call waited for the calls before it, or for a session.',
      WAIT_SECONDS,
      waits.map(({ what, spread }) => ({ labels: { for: what }, ...spread })),
    ),
    counter(
      'upshot_postgres_repeats_total',
      'Calls that were made again, by SQLSTATE; "lost" where the session ended without one.',
      repeats.map(({ code, count }) => ({ labels: { code }, value: count })),
    ),
    counter(
      'upshot_postgres_unanswered_commits_total',
      'Commits whose answer was lost, by what the server told of them afterwards.',
      fates.map(({ fate, count }) => ({ labels: { fate }, value: count })),
    ),
    histogram(
      'upshot_postgres_hint_seconds',
      'Time from a write to the hint of it, as this process heard it.',
      WAIT_SECONDS,
      [hintSeconds],
    ),
    gauge(
      'upshot_postgres_clock_offset_seconds',
      'The clock of the server minus the one of this machine.',
      one(clockOffsetMs === null ? null : clockOffsetMs / 1_000),
    ),
  ]
}
