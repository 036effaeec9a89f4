import type { ServerState } from '../../core/store/health/server.ts'
import type { Family, Reading } from './families.ts'

const one = (value: number | null): Reading[] => (value === null ? [] : [{ labels: {}, value }])

const gauge = (name: string, help: string, series: Reading[]): Family => ({ kind: 'gauge', name, help, series })

/** Gauges of the server of PostgreSQL; none for a file. The same in every process. */
export function describeServer(state: ServerState | null): Family[] {
  if (state === null) return []
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
      'upshot_postgres_weeks_until_timestamp_seconds',
      'From then on, runs have no week of their own; absent while none is made.',
      one(weeksUntil === null ? null : weeksUntil / 1_000),
    ),
  ]
}
