import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migratePostgres } from '../../src/store/postgres/open-postgres-store.ts'
import { SERVICE } from '../load/paced-deliveries.ts'
import type { BenchServer } from '../suites/postgres/bench-server.ts'
import type { Bench } from '../suites/suite.ts'
import { type AppProcess, startApp } from './app-process.ts'
import { openRows } from './open-rows.ts'

export const DATABASES = ['sqlite', 'postgres'] as const
export type DatabaseName = (typeof DATABASES)[number]

interface EndedRun {
  workflow: string
  created: number
  started: number | null
  finished: number | null
}

/** The whole app with modules of its own, on an empty database. */
interface Project extends AsyncDisposable {
  readonly app: AppProcess
  root: string
  /** Ends the app, and starts one with this role. */
  restart(role: 'receiver' | 'worker'): Promise<void>
  /** Resolves once no run is unfinished, but at most the tick of this second. */
  rest(withinSeconds: number): Promise<void>
  /** The runs that were made since a moment. */
  listRuns(since: number): Promise<EndedRun[]>
  /** Rows of a statement. */
  query<Row>(sql: string): Promise<Row[]>
}

interface ProjectOptions {
  database: DatabaseName
  server: BenchServer
  /** Text by file of `workflows`. */
  modules: Record<string, string>
  environment?: Record<string, string>
}

let projects = 0

export async function openProject(
  bench: Bench,
  { database, server, modules, environment = {} }: ProjectOptions,
): Promise<Project> {
  const root = mkdtempSync(join(bench.folder, 'project-'))
  for (const each of ['workflows', 'data']) mkdirSync(join(root, each))
  for (const [file, text] of Object.entries(modules)) writeFileSync(join(root, 'workflows', file), text)
  projects += 1
  const schema = `project_${projects}`
  if (database === 'postgres') {
    const hosts = [{ connectionString: server.url }]
    await migratePostgres({ hosts, schema, vaultKey: Buffer.alloc(32, 7) })
  }
  const place = { UPSHOT_DATABASE_URL: `${server.url}?sslmode=disable&schema=${schema}` }
  const own = { ...SERVICE, ...environment, ...(database === 'postgres' ? place : {}) }
  let app = await startApp({ root, environment: own })
  const rows = await openRows(
    database === 'postgres' ? { urls: [server.url], schema } : { file: join(root, 'data/upshot.db') },
  )
  return {
    get app() {
      return app
    },
    root,
    query: rows.query,
    async restart(role) {
      await app[Symbol.asyncDispose]()
      app = await startApp({ root, environment: { ...own, UPSHOT_ROLE: role } })
    },
    async rest(withinSeconds) {
      const open = `SELECT count(*) AS open FROM work WHERE workflow <> 'tick'`
      for (const until = performance.now() + withinSeconds * 1_000; performance.now() < until; await sleep(250)) {
        const [row] = await rows.query<{ open: number | string }>(open)
        if (Number(row?.open) === 0) return
      }
    },
    async listRuns(since) {
      const found = await rows.query<{ workflow: string } & Record<'created' | 'started' | 'finished', string | null>>(
        `SELECT workflow, created_at AS created, started_at AS started, finished_at AS finished
         FROM full_run WHERE created_at >= ${since}`,
      )
      const momentOf = (text: string | null) => (text === null ? null : Number(text))
      return found.map(({ workflow, created, started, finished }) => ({
        workflow,
        created: Number(created),
        started: momentOf(started),
        finished: momentOf(finished),
      }))
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await rows.close()
    },
  }
}
