import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Store } from '../../../src/core/store/store.ts'
import { openPostgresStore } from '../../../src/store/postgres/open-postgres-store.ts'
import { CHILD_ENVIRONMENT } from '../../support/child-environment.ts'
import { makeSchema } from '../../support/postgres-store.ts'
import { CLI, DOOR } from '../../support/program.ts'
import { runGroup } from '../../support/start-group.ts'
import { makeProject, startIn } from '../../support/start-process.ts'
import { NO_SERVICE_VARIABLES } from '../../support/test-config.ts'

/** Three steps that each leave a line in a file; the second waits while there is a file `hang`. */
const followUp = `import { appendFileSync, existsSync } from 'node:fs'
import { defineWorkflow } from '${DOOR}'
const note = (line) => appendFileSync('effects.txt', line + '\\n')
export default defineWorkflow({
  id: 'follow-up',
  on: 'file.*',
  run: async ({ event, step, log }) => {
    await step.run('first', () => note(event.id + ' first'))
    await step.run('second', async () => {
      log.info('in the second step')
      while (existsSync('hang')) await new Promise((done) => setTimeout(done, 20))
      note(event.id + ' second')
    })
    await step.run('third', () => note(event.id + ' third'))
    return event.id
  },
})`
const everySecond = `import { cron, defineWorkflow } from '${DOOR}'
export default defineWorkflow({
  id: 'every-second',
  on: cron('* * * * * *'),
  run: ({ tick }) => tick.scheduledFor.getTime(),
})`

const MODULES: Record<string, string> = {
  'follow-up.workflow.ts': followUp,
  'every-second.workflow.ts': everySecond,
}

interface Place {
  url: string
  schema: string
}

export type Process = ReturnType<typeof startIn> & { endpoint: string; admin: string }

/** Processes of one project on one PostgreSQL database, each with a data directory of its own. */
export class Cluster {
  readonly root: string
  readonly environment: Record<string, string>
  readonly #key = randomBytes(32)
  readonly #place: Place
  #processes = 0

  /** `place`: default a schema of its own in the server of the test run. */
  constructor(place: Place = makeSchema(), environment: Record<string, string> = {}, modules = MODULES) {
    this.#place = place
    this.root = makeProject(modules)
    this.environment = {
      ...NO_SERVICE_VARIABLES,
      UPSHOT_DATABASE_URL: `${place.url}?schema=${place.schema}`,
      UPSHOT_SECRET_KEY: this.#key.toString('base64'),
      ...environment,
    }
  }

  get schema(): string {
    return this.#place.schema
  }

  /** Runs a command, and gives its output. Rejects with the exit code. */
  command(...args: string[]): Promise<string> {
    return this.commandIn({}, ...args)
  }

  /** The same with variables of its own. */
  async commandIn(environment: Record<string, string>, ...args: string[]): Promise<string> {
    const env = { ...CHILD_ENVIRONMENT, ...this.environment, ...environment }
    return runGroup(process.execPath, [CLI, ...args], { cwd: this.root, env })
  }

  async start(role: string, environment: Record<string, string> = {}): Promise<Process> {
    const own = { ...this.environment, UPSHOT_DATA_DIR: `data-${++this.#processes}`, ...environment }
    const started = startIn(this.root, own, ['--role', role])
    const line = await started.line(({ message }) => message === 'started')
    const { 'endpoint service': endpoint = '', admin = '' } = line.urls as Record<string, string>
    return { ...started, endpoint, admin }
  }

  hang(): void {
    writeFileSync(join(this.root, 'hang'), '')
  }

  goOn(): void {
    rmSync(join(this.root, 'hang'), { force: true })
  }

  /** Resolves when so many runs of the deliveries are completed. */
  async completed(store: Store, runs: number): Promise<void> {
    const list = () => store.listRuns({ workflow: 'follow-up', status: 'completed', limit: 1_000 })
    while ((await list()).length < runs);
  }

  /** The store of the cluster, as a command opens it. */
  async open(): Promise<Store> {
    const { url, schema } = this.#place
    const store = await openPostgresStore({ hosts: [{ connectionString: url }], schema, vaultKey: this.#key })
    onTestFinished(() => store.close())
    return store
  }

  /** Lines that the steps wrote, in order. */
  effects(): string[] {
    const file = join(this.root, 'effects.txt')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }
}
