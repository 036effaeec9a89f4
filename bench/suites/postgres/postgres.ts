import type { Result } from '../../report/result.ts'
import type { Bench, Suite } from '../suite.ts'
import { measureFailures } from './failures.ts'
import { measureOldSnapshot } from './old-snapshot.ts'
import { measureProcesses } from './processes.ts'
import { measureRows } from './rows.ts'
import { measureThroughput } from './throughput.ts'
import { measureWeeks } from './weeks.ts'

/** The store in PostgreSQL, on servers of its own. A quick run measures one process only. */
export const postgres: Suite = {
  names: [
    'postgres.eventsVsSqlite',
    'postgres.cpuVsSqlite',
    'postgres.eventsPerSecond',
    'postgres.fourVsOne',
    'postgres.fourVsOneOneStream',
    'postgres.eightGateWorkersVsOne',
    'postgres.claimAt1MPending',
    'postgres.oldSnapshotMark',
    'postgres.dropVsDelete',
    'postgres.dropVsDeleteLog',
    'postgres.recoverySeconds',
    'postgres.failoverLost',
  ],
  isSlow: true,
  run: runPostgres,
}

async function runPostgres(bench: Bench): Promise<Result[]> {
  const results = await measureThroughput(bench)
  if (bench.isQuick) return results
  return [
    ...results,
    ...(await measureProcesses(bench)),
    ...(await measureRows(bench)),
    ...(await measureOldSnapshot(bench)),
    ...(await measureWeeks(bench)),
    ...(await measureFailures(bench)),
  ]
}
