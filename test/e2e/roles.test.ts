import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { App } from '../../src/app/app.ts'
import type { Run } from '../../src/core/runs/run.ts'
import type { Store } from '../../src/core/store/store.ts'
import { eventBody } from '../support/fixtures.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { DOOR } from '../support/program.ts'
import { opensslHmac } from '../support/sign.ts'
import { makeProject, startIn } from '../support/start-process.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { NO_SERVICE_VARIABLES, testConfig, WEBHOOK_SECRET } from '../support/test-config.ts'

/** The second step writes a log line, then hangs while there is a file `hang`. */
const followUp = `import { appendFileSync, existsSync } from 'node:fs'
import { defineWorkflow } from '${DOOR}'
const note = (line) => appendFileSync('effects.txt', line + '\\n')
export default defineWorkflow({
  id: 'follow-up',
  on: 'file.*',
  run: async ({ event, step, log, signal }) => {
    await step.run('first', () => note(event.id + ' first'))
    await step.run('second', async () => {
      log.info('in the second step')
      signal.addEventListener('abort', () => note(event.id + ' aborted'), { once: true })
      while (existsSync('hang') && !signal.aborted) await new Promise((done) => setTimeout(done, 20))
      signal.throwIfAborted()
      note(event.id + ' second')
    })
    return event.id
  },
})`
const everySecond = `import { cron, defineWorkflow } from '${DOOR}'
export default defineWorkflow({
  id: 'every-second',
  on: cron('* * * * * *'),
  run: ({ tick }) => tick.scheduledFor.getTime(),
})`

type Process = ReturnType<typeof startIn>

class Stage {
  readonly root = makeProject({ 'follow-up.workflow.ts': followUp, 'every-second.workflow.ts': everySecond })
  readonly store: Store

  constructor() {
    this.store = openDataDir({ dataDir: join(this.root, 'data'), secretKey: null })
    onTestFinished(() => this.store.close())
  }

  async start(role: string): Promise<Process & { url: string }> {
    const started = startIn(this.root, NO_SERVICE_VARIABLES, ['--role', role])
    const line = await started.line(({ message }) => message === 'started')
    const urls = line.urls as Record<string, string>
    return { ...started, url: urls['endpoint service'] ?? '' }
  }

  hang(): void {
    writeFileSync(join(this.root, 'hang'), '')
  }

  goOn(): void {
    rmSync(join(this.root, 'hang'), { force: true })
  }

  effects(): string[] {
    const file = join(this.root, 'effects.txt')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }

  async runOf(eventId: string): Promise<Run> {
    const [run, ...others] = await this.store.listRuns({ limit: 9, eventId })
    if (!run || others.length > 0) throw new Error(`${eventId} is to have one run`)
    return run
  }
}

async function deliver(url: string, id: string): Promise<{ status: number; verdict: string | undefined }> {
  const body = eventBody(id)
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': opensslHmac(WEBHOOK_SECRET, body) }
  const response = await fetch(url, { method: 'POST', headers, body })
  const answer = (await response.json()) as { data?: { verdict: string } }
  return { status: response.status, verdict: answer.data?.verdict }
}

async function kill({ child, exited }: Process): Promise<void> {
  child.kill('SIGKILL')
  await exited
}

test('receiver, worker and scheduler in three processes lose nothing when any of them is killed', async () => {
  const stage = new Stage()
  const receiver = await stage.start('receiver')
  // There are no routes yet, so an event stored now would start no run.
  expect(await deliver(receiver.url, 'evt_1')).toMatchObject({ status: 503 })

  const worker = await stage.start('worker')
  expect(await deliver(receiver.url, 'evt_1')).toEqual({ status: 200, verdict: 'accepted' })
  await worker.line((line) => line.message === 'run completed' && line.workflow === 'follow-up')
  expect(await stage.runOf('evt_1')).toMatchObject({ status: 'completed', output: '"evt_1"' })

  const scheduler = await stage.start('scheduler')
  expect(scheduler.lines.filter(({ message }) => message === 'workflow loaded')).toEqual([])
  await worker.line((line) => line.message === 'run completed' && line.workflow === 'every-second')

  stage.hang()
  await deliver(receiver.url, 'evt_2')
  const { id: hanging } = await stage.runOf('evt_2')
  await worker.line((line) => line.message === 'in the second step' && line.run === hanging)
  await kill(worker)
  expect(await deliver(receiver.url, 'evt_3')).toEqual({ status: 200, verdict: 'accepted' })
  await kill(receiver)
  await kill(scheduler)

  stage.goOn()
  const [second, otherReceiver, otherScheduler] = await Promise.all(
    ['worker', 'receiver', 'scheduler'].map((role) => stage.start(role)),
  )
  if (!second || !otherReceiver || !otherScheduler) throw new Error('three processes were started')
  await second.line((line) => line.message === 'run completed' && line.run === hanging)
  expect(await deliver(otherReceiver.url, 'evt_2')).toMatchObject({ verdict: 'duplicate' })
  expect(await deliver(otherReceiver.url, 'evt_4')).toMatchObject({ verdict: 'accepted' })
  for (const id of ['evt_3', 'evt_4']) {
    const { id: run } = await stage.runOf(id)
    await second.line((line) => line.message === 'run completed' && line.run === run)
  }
  await otherScheduler.line(({ message }) => message === 'tick recorded')

  const expected = ['evt_1', 'evt_2', 'evt_3', 'evt_4'].flatMap((id) => [`${id} first`, `${id} second`])
  expect(stage.effects().toSorted()).toEqual(expected)
  const ticks = (await stage.store.listRuns({ limit: 1_000, workflow: 'every-second' })).map(({ tickAt }) => tickAt)
  expect(new Set(ticks).size).toBe(ticks.length)
}, 240_000)

test('a worker in development loads changed modules and shared files again', async () => {
  const root = tempFolder()
  makeProject(
    {
      'word.ts': `export const word: string = 'one'`,
      'speak.workflow.ts': `import { defineWorkflow } from '${DOOR}'
import { word } from './word.ts'
export default defineWorkflow({ id: 'speak', on: 'file.created', run: ({ log }) => log.info('says ' + word) })`,
    },
    root,
  )
  const started = startIn(root, { ...NO_SERVICE_VARIABLES, UPSHOT_DEV: '1' })
  const { urls } = await started.line(({ message }) => message === 'started')
  const url = (urls as Record<string, string>)['endpoint service'] ?? ''
  await deliver(url, 'evt_1')
  await started.line(({ message }) => message === 'says one')
  makeProject({ 'word.ts': `export const word: string = 'two'` }, root)
  await started.line(({ message }) => message === 'workflows reloaded')
  await deliver(url, 'evt_2')
  const { run } = await started.line(({ message }) => message === 'says two')
  makeProject({ 'word.ts': `export const word: string = (` }, root)
  await started.line(({ message }) => message === 'workflow broken, its former version stays at work')
  await deliver(url, 'evt_3')
  await started.line((line) => line.message === 'says two' && line.run !== run)
}, 120_000)

test('a role with the sandbox and an unknown role are refused', async () => {
  await expect(App.create(testConfig(tempFolder(), { role: 'worker' }), { workflows: [] })).rejects.toMatchObject({
    code: 'invalid_config',
  })
  const wrong = startIn(makeProject({}), NO_SERVICE_VARIABLES, ['--role', 'janitor'])
  expect(await wrong.exited).toMatchObject({ code: 2 })
  expect(wrong.errors()).toContain('--role is not valid: it should be one of all, receiver, worker, scheduler')
})
