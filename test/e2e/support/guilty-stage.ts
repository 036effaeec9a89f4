import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFailed, onTestFinished } from 'vitest'
import type { Run } from '../../../src/core/runs/run.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { eventBody, incoming } from '../../support/fixtures.ts'
import { openDataDir } from '../../support/open-data-dir.ts'
import { DOOR } from '../../support/program.ts'
import { opensslHmac } from '../../support/sign.ts'
import { makeProject, startIn } from '../../support/start-process.ts'
import { NO_SERVICE_VARIABLES, WEBHOOK_SECRET } from '../../support/test-config.ts'

/** Its steps are at work until the file `go-on` exists. */
const neighbour = `import { appendFileSync, existsSync } from 'node:fs'
import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({
  id: 'neighbour',
  on: 'file.created',
  run: async ({ event, step }) => {
    await step.run('wait', async () => {
      appendFileSync('at-work.txt', event.id + '\\n')
      while (!existsSync('go-on')) await new Promise((done) => setTimeout(done, 20))
    })
    return event.id
  },
})`

/** Lines of a process that a failed test shows. */
const LAST_LINES = 20

type Process = ReturnType<typeof startIn>

/** Where the code of the workflow `guilty` does its harm. */
export interface Guilt {
  /** Statements of a step. */
  step?: string
  /** An expression for `where`. */
  where?: string
  /** A statement of steps without end, in place of `step`. */
  steps?: string
  /** A statement of the module. */
  top?: string
}

/** The real process, with a workflow that harms its engine and others that wait beside it. */
export class GuiltyStage {
  readonly root: string
  readonly store: Store
  url = ''
  #isOver = false

  constructor({ step = '', steps, where = 'true', top = '' }: Guilt, settings: object = {}) {
    const run = steps
      ? `async ({ step }) => { for (let n = 0; ; n++) await step.run(['one', n], async () => { ${steps} }) }`
      : `({ step }) => step.run('harm', async () => { ${step} })`
    const guilty = `import { defineWorkflow } from '${DOOR}'
${top}
export default defineWorkflow({
  id: 'guilty',
  on: 'file.deleted',
  where: () => ${where},
  run: ${run},
})`
    this.root = makeProject({ 'guilty.workflow.ts': guilty, 'neighbour.workflow.ts': neighbour })
    mkdirSync(join(this.root, 'config'))
    const config = { engine: { hang: '2s', heapBytes: 128 * 1_048_576 }, drain: '1s', ...settings }
    writeFileSync(join(this.root, 'config/upshot.config.ts'), `export default ${JSON.stringify(config)}`)
    this.store = openDataDir({ dataDir: join(this.root, 'data'), secretKey: null })
    onTestFinished(async () => {
      this.#isOver = true
      await this.store.close()
    })
  }

  async start(role = 'all'): Promise<Process> {
    const started = startIn(this.root, NO_SERVICE_VARIABLES, ['--role', role])
    onTestFailed(() => {
      process.stderr.write(`${JSON.stringify(started.lines.slice(-LAST_LINES), null, 1)}\n`)
    })
    const { urls } = await started.line(({ message }) => message === 'started')
    this.url = (urls as Record<string, string>)['endpoint service'] ?? this.url
    return started
  }

  /** Delivers an event; resolves with the milliseconds until its 200. */
  async deliver(id: string, type = 'file.created'): Promise<number> {
    const body = eventBody(id, type)
    const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': opensslHmac(WEBHOOK_SECRET, body) }
    const begunAt = performance.now()
    const response = await fetch(this.url, { method: 'POST', headers, body })
    if (response.status !== 200) throw new Error(`a delivery was answered ${response.status}`)
    return performance.now() - begunAt
  }

  /** The process in which an app tries suspects, once it is there. Throws for a second child. */
  async suspectsOf({ child: { pid } }: Process): Promise<number> {
    const list = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    await this.until(() => list() !== '')
    if (list().includes(' ')) throw new Error(`the app has several children: ${list()}`)
    return Number(list())
  }

  untilGone(pid: number): Promise<void> {
    return this.until(() => !existsSync(`/proc/${pid}`))
  }

  /** Delivers events that start neighbours, and resolves once their steps are at work. */
  async occupy(count: number): Promise<void> {
    for (let n = 0; n < count; n++) await this.deliver(`evt_neighbour_${n}`)
    await this.until(() => this.atWork().length >= count)
  }

  /** Ids of the events whose neighbours were at work, once for each pass. */
  atWork(): string[] {
    const file = join(this.root, 'at-work.txt')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }

  goOn(): void {
    writeFileSync(join(this.root, 'go-on'), '')
  }

  async guiltyRun(): Promise<Run | undefined> {
    return (await this.store.listRuns({ limit: 1, workflow: 'guilty' }))[0]
  }

  /** A worker whose process tries the guilty run alone, as after an engine that it has ended. */
  async startWithSuspect(): Promise<Process> {
    const body = eventBody('evt_suspect', 'file.deleted')
    await this.store.saveDelivery(incoming('evt_suspect', { body, workflows: ['guilty'], receivedAt: Date.now() }))
    await this.store.startWorker('wrk_dead', Date.now())
    await this.store.claimRuns('wrk_dead', 1, Date.now())
    await this.store.endWorker('wrk_dead')
    return await this.start('worker')
  }

  /** Resolves once the guilty run waits for a person. */
  untilParked(): Promise<void> {
    return this.until(async () => {
      const run = await this.guiltyRun()
      return run?.status === 'waiting' && run.dueAt === null
    })
  }

  /** Resolves once all neighbours have completed. */
  untilNeighboursDone(): Promise<void> {
    return this.until(async () => {
      const runs = await this.store.listRuns({ limit: 1_000, workflow: 'neighbour' })
      return runs.every(({ status }) => status === 'completed')
    })
  }

  async until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    while (!this.#isOver && !(await isTrue())) await new Promise((done) => setTimeout(done, 50))
  }
}
