import { accessSync, chmodSync, constants, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import pg from 'pg'
import { startPostgres, type TestServer } from '../../../test/support/postgres-server.ts'
import type { Bench } from '../suite.ts'

/** As in production: what was answered is on the disk. */
const SAFE = ['fsync = on', 'full_page_writes = on', 'shared_buffers = 256MB', 'max_wal_size = 8GB']
/** Every commit takes 10 ms, as with a replica in another zone. */
export const SLOW_COMMITS = ['commit_delay = 10000', 'commit_siblings = 0']

/** A server of its own for a suite, which ends with it. */
export interface BenchServer
  extends AsyncDisposable,
    Pick<TestServer, 'url' | 'kill' | 'start' | 'addStandby' | 'promote'> {
  /** Rows of a statement. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>
}

export async function startServer(bench: Bench, settings: readonly string[] = []): Promise<BenchServer> {
  return asBenchServer(await startPostgres([...SAFE, ...settings], chooseFolder(bench)))
}

export function asBenchServer(server: TestServer): BenchServer {
  return {
    ...server,
    async query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]) {
      const client = new pg.Client(server.url)
      await client.connect()
      try {
        return (await client.query<Row>(sql, values)).rows
      } finally {
        await client.end()
      }
    },
    [Symbol.asyncDispose]: () => server.stop(),
  }
}

/** The folder of the databases, if the user of the server may go there. */
function chooseFolder({ folder, say }: Bench): string {
  accessSync(folder, constants.W_OK)
  if (process.getuid?.() !== 0) return folder
  chmodSync(folder, 0o711)
  for (let each = folder; each !== dirname(each); each = dirname(each)) {
    if ((statSync(each).mode & 0o001) !== 0) continue
    say(`  the server may not read ${each}: its data is in ${tmpdir()}`)
    return tmpdir()
  }
  return folder
}
