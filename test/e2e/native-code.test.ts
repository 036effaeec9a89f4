import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Guilt, GuiltyStage } from './support/guilty-stage.ts'

/** Such a call holds its thread: V8 looks for an end only where JavaScript is called. */
const keep = (seconds: number): Guilt => ({
  top: "import { execFileSync } from 'node:child_process'; import { writeFileSync } from 'node:fs'",
  step: `execFileSync('sleep', ['${seconds}'], { stdio: 'ignore' }); writeFileSync('after.txt', '')`,
})

/** Names of the programs that the threads of a process have started. */
function listChildren(pid: number | undefined): string[] {
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '')
  const tasks = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : []
  return tasks
    .flatMap((task) => read(`/proc/${pid}/task/${task}/children`).split(' '))
    .map((child) => read(`/proc/${child}/comm`))
}

/** One native call of 800 MB. */
const FILL: Guilt = {
  top: "import { DatabaseSync } from 'node:sqlite'",
  step: `new DatabaseSync(':memory:').exec(\`CREATE TABLE t AS
    WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n)
    SELECT CASE WHEN i < 2000 THEN randomblob(400000) END FROM n\`)`,
}
const FULL = /The process takes too much: \d+ bytes, where `engine.memoryBytes` is \d+/

test('native code that fills the memory and cannot be ended ends its process, and its run is tried alone', async () => {
  const settings = { engine: { hang: '30s', memoryBytes: 384 * 1_048_576 } }
  const stage = new GuiltyStage(FILL, settings)
  const first = await stage.start()
  await stage.deliver('evt_guilty', 'file.deleted')
  expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' })
  const ended = first.lines.find(({ message }) => message === 'the engine ended and is started again')
  expect(ended).toMatchObject({ cause: 'out_of_memory', guilty: [(await stage.guiltyRun())?.id] })
  expect(JSON.stringify(ended)).toMatch(FULL)
  expect(JSON.stringify(first.lines.at(-1))).toContain(`process ${first.child.pid} ends itself by SIGKILL`)
  expect(await stage.store.hasSuspects()).toBe(true)
  // The process that tries it claims it as its engine starts, and looks at its memory no less.
  const second = await stage.start()
  const again = await second.line(({ cause }) => cause === 'out_of_memory')
  expect(JSON.stringify(again)).toMatch(FULL)
}, 60_000)

test('an engine whose full heap takes seconds to be given back costs no process', async () => {
  const fill = 'const all = []; for (;;) all.push(new ArrayBuffer(8))'
  const megabyte = 1_048_576
  const engine = { hang: '30s', heapBytes: 1_024 * megabyte, memoryBytes: 8_192 * megabyte }
  const stage = new GuiltyStage({ step: fill }, { engine })
  const started = await stage.start()
  await stage.deliver('evt_guilty', 'file.deleted')
  await started.line(({ message }) => message === 'the engine ended and is started again')
  await stage.occupy(1)
  expect(started.child.exitCode).toBeNull()
}, 120_000)

test('an engine that native code keeps after a hang holds up nothing, and its run is tried alone', async () => {
  const stage = new GuiltyStage(keep(60))
  const started = await stage.start()
  await stage.occupy(1)
  await stage.deliver('evt_guilty', 'file.deleted')
  const ended = await started.line(({ message }) => message === 'the engine ended and is started again')
  expect(ended).toMatchObject({ cause: 'blocked' })
  expect(ended.runs).toContain(`${(await stage.guiltyRun())?.id} (guilty)`)
  await started.line((line) => JSON.stringify(line).includes('Another engine begins beside it.'))
  for (let n = 0; n < 20; n++) await stage.deliver(`evt_after_${n}`, 'folder.created')
  stage.goOn()
  await stage.untilNeighboursDone()
  expect(started.child.exitCode).toBeNull()
}, 60_000)

test('a process whose third engine native code keeps ends itself', async () => {
  const stage = new GuiltyStage(keep(60))
  const started = await stage.start()
  for (let n = 0; n < 3; n++) {
    await stage.deliver(`evt_guilty_${n}`, 'file.deleted')
    const run = `${(await stage.guiltyRun())?.id} (guilty)`
    await started.line(({ cause, runs }) => cause === 'blocked' && (runs as string[]).includes(run))
  }
  expect(await started.exited).toEqual({ code: null, signal: 'SIGKILL' })
  expect(JSON.stringify(started.lines)).toContain(`process ${started.child.pid} ends itself by SIGKILL`)
}, 60_000)

test('an engine that a native call keeps for a moment costs no process, and runs no code after it', async () => {
  const stage = new GuiltyStage(keep(5))
  const started = await stage.start()
  await stage.deliver('evt_guilty', 'file.deleted')
  await started.line(({ message }) => message === 'the engine ended and is started again')
  for (let n = 0; n < 20; n++) await stage.deliver(`evt_after_${n}`, 'folder.created')
  expect(existsSync(join(stage.root, 'after.txt'))).toBe(false)
  await stage.until(() => !listChildren(started.child.pid).includes('sleep'))
  started.child.kill('SIGTERM')
  expect(await started.exited).toEqual({ code: 0, signal: null })
}, 60_000)

test.each(['SIGTERM', 'SIGTERM twice'])(
  '%s ends a process whose engine native code keeps',
  async (how) => {
    const stage = new GuiltyStage(keep(60), { engine: { hang: '1h' } })
    const started = await stage.start()
    await stage.deliver('evt_guilty', 'file.deleted')
    await stage.until(async () => (await stage.guiltyRun())?.status === 'running')
    started.child.kill('SIGTERM')
    if (how === 'SIGTERM twice') {
      await started.line(({ message }) => message === 'stopping')
      started.child.kill('SIGTERM')
    }
    expect(await started.exited).toEqual({ code: null, signal: 'SIGKILL' })
    if (how === 'SIGTERM twice') return
    expect(JSON.stringify(started.lines)).toContain(`process ${started.child.pid} ends itself by SIGKILL`)
    expect(await stage.guiltyRun()).toMatchObject({ status: 'pending' })
    expect(await stage.store.hasSuspects()).toBe(false)
  },
  60_000,
)

test('the process that tries suspects ends with its parent, even while native code keeps it', async () => {
  const stage = new GuiltyStage(keep(60), { engine: { hang: '1h' } })
  const worker = await stage.startWithSuspect()
  const suspects = await stage.suspectsOf(worker)
  await stage.until(async () => (await stage.guiltyRun())?.status === 'running')
  worker.child.kill('SIGKILL')
  await stage.untilGone(suspects)
}, 60_000)
