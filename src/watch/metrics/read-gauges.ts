import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { COMMIT_SECONDS, COMMIT_WRITES, type CommitCounts, type CommitSpread } from '../../core/commit-counts.ts'
import type { Approval } from '../../core/safety/approval.ts'
import type { SealState } from '../../core/safety/ledger/seal.ts'
import type { OpenRuns } from '../../core/store/runs.ts'
import type { ServerState } from '../../core/store/server.ts'
import { describeCalls, describeServer } from './describe-server.ts'
import type { CounterFamily, Family, GaugeFamily, HistogramFamily, Reading } from './families.ts'

/** The sources of the gauges of a process. */
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
  /** Deliveries that wait for their commit, and bytes of bodies; null without a receiver. */
  intake: (() => { waiting: number; bytes: number }) | null
  /** Requests a minute that each account in use allows. */
  fileLimits: () => readonly { account: string; perMinute: number }[]
  /** Path of the database. */
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

function describeLoad({ slots, intake, fileLimits }: GaugeSources): Family[] {
  const worker = slots?.()
  const load = intake?.()
  const limits = fileLimits().map(({ account, perMinute }) => ({ labels: { account }, value: perMinute }))
  return [
    gauge('upshot_worker_slots', 'Runs that this worker may execute at a time.', one(worker?.total)),
    gauge('upshot_worker_slots_busy', 'Runs that this worker executes.', one(worker?.busy)),
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
    histogram('upshot_store_commit_duration_seconds', 'Time that a commit took.', COMMIT_SECONDS, seconds),
    histogram(
      'upshot_store_sync_duration_seconds',
      'Time that a commit waited for the disk.',
      COMMIT_SECONDS,
      syncSeconds,
    ),
    histogram('upshot_store_commit_writes', 'Writes that shared a commit.', COMMIT_WRITES, writes),
  ]
}

export function gauge(name: string, help: string, series: readonly Reading[]): GaugeFamily {
  return { kind: 'gauge', name, help, series }
}

export function counter(name: string, help: string, value: number): CounterFamily {
  return { kind: 'counter', name, help, series: one(value) }
}

function histogram(name: string, help: string, bounds: readonly number[], spread: CommitSpread): HistogramFamily {
  const { counts, sum } = spread
  return { kind: 'histogram', name, help, bounds, series: [{ labels: {}, counts: [...counts], sum, example: null }] }
}

function one(value: number | undefined): Reading[] {
  return value === undefined ? [] : [{ labels: {}, value }]
}
