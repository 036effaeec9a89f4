import Database from 'better-sqlite3'
import {
  createFilesClient,
  FilesError,
  type LimiterState,
  type LimiterStore,
  OPEN_STATE,
} from '../../src/files/index.ts'

/** A process that reads as many entries as it may, and says how each call ended. */
const [, , baseUrl = '', path = '', calls = '0'] = process.argv

/** One row per key, read and written in one transaction. */
function sqliteLimiterStore(): LimiterStore {
  const db = new Database(path, { timeout: 10_000 })
  db.exec('CREATE TABLE IF NOT EXISTS limiter (key TEXT PRIMARY KEY, state TEXT NOT NULL)')
  const read = db.prepare<[string], { state: string }>('SELECT state FROM limiter WHERE key = ?')
  const write = db.prepare('INSERT OR REPLACE INTO limiter (key, state) VALUES (?, ?)')
  return {
    async change(key, decide) {
      return db
        .transaction(() => {
          const row = read.get(key)
          const { state, result } = decide(row === undefined ? OPEN_STATE : (JSON.parse(row.state) as LimiterState))
          write.run(key, JSON.stringify(state))
          return result
        })
        .immediate()
    },
  }
}

const files = createFilesClient({
  baseUrl,
  apiKey: 'sk_sandbox_shared_key_1',
  plan: 6,
  limiter: sqliteLimiterStore(),
  // Less than a window by more than two processes take to start: who does not start now does not wait either.
  retry: { maxWait: '10s' },
})
const ends = await Promise.all(
  Array.from({ length: Number(calls) }, (_, index) =>
    files.get({ service: 'storage_a', id: `${process.pid}-${index}` }).then(
      () => 'ok',
      (error: unknown) => (error instanceof FilesError ? error.name : String(error)),
    ),
  ),
)
process.stdout.write(JSON.stringify(ends))
