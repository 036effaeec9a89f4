import { type CommitCounts, type CommitSpread, WAIT_SECONDS } from '../../core/commit-counts.ts'
import type { ServerState } from '../../core/store/server.ts'
import type { Family, Reading } from './families.ts'

const one = (value: number | null): Reading[] => (value === null ? [] : [{ labels: {}, value }])

const gauge = (name: string, help: string, series: Reading[]): Family => ({ kind: 'gauge', name, help, series })

const counter = (name: string, help: string, series: Reading[]): Family => ({ kind: 'counter', name, help, series })

/** Families about a server of PostgreSQL, the same in every process. */
export function describeServer(state: ServerState): Family[] {
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
export function describeCalls(commits: Pick<CommitCounts, 'readServer'>, clockOffsetMs: number | null): Family[] {
  const { waits, hintSeconds, repeats, fates } = commits.readServer()
  return [
    spread(
      'upshot_postgres_wait_seconds',
      'Time that a call waited for the calls before it, or for a session.',
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
    spread('upshot_postgres_hint_seconds', 'Time from a write to the hint of it, as this process heard it.', [
      { labels: {}, ...hintSeconds },
    ]),
    gauge(
      'upshot_postgres_clock_offset_seconds',
      'The clock of the server minus the one of this machine.',
      one(clockOffsetMs === null ? null : clockOffsetMs / 1_000),
    ),
  ]
}

function spread(name: string, help: string, spreads: readonly (CommitSpread & Pick<Reading, 'labels'>)[]): Family {
  const series = spreads.map(({ counts, ...rest }) => ({ ...rest, counts: [...counts], example: null }))
  return { kind: 'histogram', name, help, bounds: WAIT_SECONDS, series }
}
