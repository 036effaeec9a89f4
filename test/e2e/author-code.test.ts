import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { HEARTBEAT_MS, LEASE_MS } from '../../src/core/runs/lease.ts'
import { BLOCK } from '../support/program.ts'
import { type Guilt, GuiltyStage } from './support/guilty-stage.ts'

const NEIGHBOURS = 5

/** The 99th percentile. */
function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
}

interface Harm extends Guilt {
  /** How the engine's end is told. */
  cause: string
  /** Why its run is parked. */
  reason: string
  /** For the whole process; default 384. */
  memoryMb?: number
}

const HARM: Record<string, Harm> = {
  'a loop without end': {
    step: 'await null; for (;;) {}',
    cause: 'blocked',
    reason: 'its code blocked the engine at workflows/guilty.workflow.ts:7:',
  },
  'a pattern that backtracks in where': {
    where: "/^(a+)+$/.test('a'.repeat(40) + '!')",
    cause: 'blocked',
    reason: 'its code blocked the engine at workflows/guilty.workflow.ts:6:',
  },
  'process.exit': {
    step: 'process.exit(1)',
    cause: 'exited',
    reason: 'its code called process.exit(1) at workflows/guilty.workflow.ts:7:',
  },
  'buffers without end': {
    step: 'const all = []; for (;;) all.push(Buffer.alloc(4_194_304, 1))',
    cause: 'out_of_memory',
    reason: 'its code filled the memory at workflows/guilty.workflow.ts:7:',
  },
  'native memory without end': {
    step: `const { DatabaseSync } = await import('node:sqlite'); const db = new DatabaseSync(':memory:')
      db.exec('CREATE TABLE t (b)')
      for (;;) { db.exec('INSERT INTO t VALUES (zeroblob(4000000))'); await new Promise(setImmediate) }`,
    cause: 'out_of_memory',
    reason: 'its code filled the memory',
  },
  'memory without end, a little each time': {
    step: `const all = []; const cell = new Int32Array(new SharedArrayBuffer(4))
      for (;;) { all.push(new Array(1e4).fill({})); Atomics.wait(cell, 0, 0, 5) }`,
    cause: 'out_of_memory',
    reason: 'its code filled the memory at workflows/guilty.workflow.ts:8:',
  },
  'memory without end': {
    step: 'const all = []; for (;;) all.push(new Array(1e6).fill({}))',
    cause: 'out_of_memory',
    reason: 'its code filled the memory',
  },
  'one call that takes more than the heap': {
    step: `const all = 'one,'.repeat(1e7).split(','); const cell = new Int32Array(new SharedArrayBuffer(4))
      for (;;) { all.push('more'); Atomics.wait(cell, 0, 0, 5) }`,
    cause: 'out_of_memory',
    // A fast machine sees it in the call, and a slow one in the loop behind it.
    reason: 'its code filled the memory at workflows/guilty.workflow.ts:',
    memoryMb: 2_048,
  },
}

/** A busy machine may clear away garbage for longer than the 2 s after which a loop is blocked. */
function limitMemory(memoryMb: number) {
  return { engine: { hang: '30s', heapBytes: 64 * 1_048_576, memoryBytes: memoryMb * 1_048_576 } }
}

test.each(Object.entries(HARM))(
  '%s in a workflow delays no delivery, and only its run is parked',
  async (_harm, { cause, reason, memoryMb = 384, ...guilt }) => {
    const stage = new GuiltyStage(guilt, cause === 'out_of_memory' ? limitMemory(memoryMb) : {})
    const started = await stage.start()
    await stage.occupy(NEIGHBOURS)
    const calm: number[] = []
    for (let n = 0; n < 50; n++) calm.push(await stage.deliver(`evt_before_${n}`, 'folder.created'))
    await stage.deliver('evt_guilty', 'file.deleted')
    const guilty = (await stage.guiltyRun())?.id
    // Neighbours are suspects too, and tried alone before or after it.
    void started.line(({ message }) => message === 'the engine ended and is started again').then(() => stage.goOn())
    const times: number[] = []
    let isParked = false
    const parked = stage.untilParked().then(() => {
      isParked = true
    })
    // On a busy machine the run is parked before a hundred deliveries have come. As many as are
    // answered would take half of it.
    for (let n = 0; !isParked || n <= 100; n++) {
      times.push(await stage.deliver(`evt_beside_${n}`))
      await new Promise((next) => setTimeout(next, 50))
    }
    await parked
    expect(times.length).toBeGreaterThan(100)
    await stage.untilNeighboursDone()
    for (let n = 0; n < 50; n++) calm.push(await stage.deliver(`evt_after_${n}`, 'folder.created'))
    // Each death would hold one back for two seconds. A busy machine is slow without them.
    expect(times.filter((ms) => ms > 1_000 + 2 * p99(calm)).length).toBeLessThan(4)

    const parkedFor = (await stage.guiltyRun())?.reason
    // The process that tries suspects may end once more without a run, and harms nothing then.
    const isEnd = ({ message, runs }: Record<string, unknown>) =>
      message === 'the engine ended and is started again' && String(runs) !== ''
    // On a busy machine a full thread may take too long to end, so that its process is killed. Only
    // the guilty run is in there.
    const isKilled = (line: Record<string, unknown>) => cause === 'out_of_memory' && line.cause === 'killed'
    const all = started.lines.filter(isEnd)
    expect(all.filter(isKilled).every(({ runs }) => String(runs) === `${guilty} (guilty)`)).toBe(true)
    const ended = all.filter((line) => !isKilled(line))
    expect(ended.map((line) => line.cause)).toEqual(ended.map(() => cause))
    // Its first death names all that were at work, the later ones the guilty run alone.
    expect(ended[0]?.runs).toContain(`${guilty} (guilty)`)
    expect(String(ended[0]?.runs).split(',').length).toBeGreaterThan(NEIGHBOURS)
    // Code that was seen to do it has one more chance; what nobody saw is found by trying.
    const wasSeen = !/no other run/.test(String(parkedFor))
    expect(all.length).toBeLessThanOrEqual(wasSeen ? (cause === 'out_of_memory' ? 6 : 2) : 6)
    expect(ended.slice(1).every(({ runs }) => String(runs) === `${guilty} (guilty)`)).toBe(true)
    expect(ended.slice(1).every((line) => String(line.guilty) === guilty)).toBe(true)
    if (cause !== 'out_of_memory') expect(String(ended[0]?.guilty)).toBe(guilty)
    const forPeople = started.lines.filter(({ message }) => message === 'run waits for a person')
    expect(forPeople.map(({ run }) => run)).toEqual([guilty])
    // Nobody saw what a process did that was killed.
    const isLastKilled = all.slice(-1).some(isKilled)
    expect(forPeople[0]?.reason).toContain(isLastKilled ? 'it ended its worker 5 times, with no other run' : reason)
    started.child.kill('SIGTERM')
    expect(await started.exited).toEqual({ code: 0, signal: null })
    expect(started.lines.at(-1)).toMatchObject({ message: 'stopped' })
  },
  120_000,
)

test('a run that blocks each engine as it starts delays no start of the app', async () => {
  const stage = new GuiltyStage({ step: BLOCK }, { engine: { hang: '1h' } })
  const first = await stage.start()
  await stage.deliver('evt_guilty', 'file.deleted')
  await stage.until(async () => (await stage.guiltyRun())?.status === 'running')
  first.child.kill('SIGKILL')
  await first.exited
  await stage.start()
  await stage.until(async () => (await stage.guiltyRun())?.status === 'running')
  for (let n = 0; n < 20; n++) await stage.deliver(`evt_after_${n}`, 'folder.created')
}, 60_000)

const METERED = { slots: 10, admin: { metrics: 'open' } }

test('a run that fills four fifths of a limit is told of, and leaves runs a tenth of the slots', async () => {
  const step = `const held = []; while (!existsSync('go-on')) {
      if (held.length < 28) held.push(Buffer.alloc(4_194_304, 1)); await new Promise((done) => setTimeout(done, 20)) }`
  const stage = new GuiltyStage({ top: "import { existsSync } from 'node:fs'", step }, METERED)
  const started = await stage.start()
  await stage.deliver('evt_guilty', 'file.deleted')
  const short = await started.line(({ message }) => String(message).startsWith('memory is short'))
  expect(short).toMatchObject({ of: 'buffers', most: 134_217_728, runs: [`${(await stage.guiltyRun())?.id} (guilty)`] })
  for (let n = 0; n < NEIGHBOURS; n++) await stage.deliver(`evt_beside_${n}`)
  const { admin } = (await started.line(({ message }) => message === 'started')).urls as { admin: string }
  expect(await (await fetch(`${admin}/metrics`)).text()).toContain('upshot_engine_memory_short 1')
  // Each delivery wakes the engine, which would have claimed the runs of those before.
  expect(stage.atWork()).toEqual([])
  stage.goOn()
  await started.line(({ message }) => String(message).startsWith('memory is enough'))
  await stage.until(async () => (await stage.guiltyRun())?.status === 'completed')
  await stage.until(() => stage.atWork().length === NEIGHBOURS)
  await stage.untilNeighboursDone()
  expect(started.lines.filter(({ message }) => /ended and is started again/.test(String(message)))).toEqual([])
}, 60_000)

/** Names of the app's own file, as author code may spell them. */
const OWN_FILE = `'data/upshot.db', 'data/../data/upshot.db', 'file:' + process.cwd() + '/data/upshot.db?mode=ro'`

test('code that opens the database of the app is refused by name, and takes no delivery out of service', async () => {
  const stage = new GuiltyStage({
    top: `import { DatabaseSync } from 'node:sqlite'; const files = [${OWN_FILE}]`,
    step: 'new DatabaseSync(files.shift(), { readOnly: true }).close()',
  })
  const started = await stage.start()
  for (let n = 0; n < 3; n++) {
    await stage.deliver(`evt_guilty_${n}`, 'file.deleted')
    const guilty = (await stage.guiltyRun())?.id
    const failed = await started.line(({ message, run }) => message === 'run failed' && run === guilty)
    expect(JSON.stringify(failed.err)).toMatch(/The workflow \\"guilty\\" opens .*guilty\.workflow\.ts:7:/)
  }
  for (let n = 0; n < 20; n++) await stage.deliver(`evt_after_${n}`, 'folder.created')
  started.child.kill('SIGTERM')
  expect(await started.exited).toEqual({ code: 0, signal: null })
}, 60_000)

const REPLACE = "Promise.prototype.then = () => { throw new Error('none') }"
const SPOIL = `export const spoil = () => { ${REPLACE} }\n`

/** Where a function of JavaScript is replaced: by the guilty module, or by other files. */
const REPLACING: Record<string, { guilt: Guilt; files?: Record<string, string>; place: string }> = {
  'a module': { guilt: { step: `await null; ${REPLACE}` }, place: 'workflows/guilty.workflow.ts:7' },
  'a file that a module imports': {
    guilt: { top: "import { spoil } from './lib/spoil.ts'", step: 'await null; spoil()' },
    files: { 'workflows/lib/spoil.ts': SPOIL },
    place: 'workflows/lib/spoil.ts:1',
  },
  'a package behind one that a module imports': {
    guilt: { top: "import { spoil } from 'outer'", step: 'await null; spoil()' },
    files: {
      'node_modules/outer/package.json': JSON.stringify({
        type: 'module',
        main: 'index.js',
        dependencies: { inner: '1' },
      }),
      'node_modules/outer/index.js': "export { spoil } from 'inner'\n",
      'node_modules/inner/package.json': JSON.stringify({ type: 'module', main: 'index.js' }),
      'node_modules/inner/index.js': SPOIL,
    },
    place: 'node_modules/inner/index.js:1',
  },
}

test.each(Object.entries(REPLACING))(
  '%s that replaces a function of JavaScript is named, the modules with it are left out, and the others go on',
  async (_where, { guilt, files = {}, place }) => {
    const stage = new GuiltyStage(guilt)
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(join(stage.root, dirname(file)), { recursive: true })
      writeFileSync(join(stage.root, file), text)
    }
    const started = await stage.start()
    await stage.occupy(NEIGHBOURS)
    await stage.deliver('evt_guilty', 'file.deleted')
    const replaced = await started.line(({ cause }) => cause === 'replaced')
    expect(JSON.stringify(replaced.err)).toContain(`replaced Promise.prototype.then by a function at ${place}`)
    stage.goOn()
    await stage.untilNeighboursDone()
    await stage.deliver('evt_again', 'file.deleted')
    await stage.until(async () => (await stage.guiltyRun())?.reason === 'no module defines the workflow "guilty"')
    expect(started.lines.filter(({ message }) => message === 'run waits for a person')).toEqual([])
    expect(started.lines.filter(({ cause }) => cause === 'replaced')).toHaveLength(1)
  },
  60_000,
)

test('a module that replaces one as it is loaded is broken, and the engine goes on', async () => {
  const stage = new GuiltyStage({ top: 'Array.prototype.map = () => []' })
  const started = await stage.start()
  await stage.occupy(1)
  stage.goOn()
  await stage.untilNeighboursDone()
  const broken = started.lines.filter(({ message }) => message === 'workflow broken')
  expect(JSON.stringify(broken)).toContain(
    'guilty.workflow.ts, or a module that it imports, replaces Array.prototype.map',
  )
}, 60_000)

test('a stop ends an engine whose loop is blocked within the drain, and releases its run without blame', async () => {
  const stage = new GuiltyStage({ step: BLOCK }, { engine: { hang: '1h' } })
  const started = await stage.start()
  await stage.deliver('evt_guilty', 'file.deleted')
  await stage.until(async () => (await stage.guiltyRun())?.status === 'running')
  started.child.kill('SIGTERM')
  expect(await started.exited).toEqual({ code: 0, signal: null })
  expect(await stage.guiltyRun()).toMatchObject({ status: 'pending' })
  expect(await stage.store.hasSuspects()).toBe(false)
}, 60_000)

test('a run that kills its process is tried alone after two deaths, and only it is parked', async () => {
  const stage = new GuiltyStage({ step: "process.kill(process.pid, 'SIGKILL')" })
  const first = await stage.start()
  await stage.occupy(NEIGHBOURS)
  await stage.deliver('evt_guilty', 'file.deleted')
  expect(await first.exited).toMatchObject({ signal: 'SIGKILL' })
  // The next life has the same runs at work; then each is a suspect.
  const second = await stage.start().catch(() => null)
  if (second) expect(await second.exited).toMatchObject({ signal: 'SIGKILL' })
  stage.goOn()
  const last = await stage.start()
  await stage.untilParked()
  await stage.untilNeighboursDone()
  expect(last.child.exitCode).toBeNull()
  expect((await stage.guiltyRun())?.reason).toContain('5 times')
  // The log tells of an end after the commit that parks.
  const ended = () => last.lines.filter(({ message }) => message === 'the engine ended and is started again')
  await stage.until(async () => ended().length >= 5)
  expect(ended().map(({ cause }) => cause)).toEqual(Array(5).fill('killed'))
}, 120_000)

test('the process that tries suspects alone ends with its parent, even while a run blocks it', async () => {
  const stage = new GuiltyStage({ step: BLOCK })
  const started = await stage.start()
  // Tried first, so that the guilty run meets an engine that has started.
  await stage.occupy(2)
  await stage.deliver('evt_guilty', 'file.deleted')
  await started.line(({ message }) => message === 'the engine ended and is started again')
  stage.goOn()
  const suspects = await stage.suspectsOf(started)
  // That process has claimed the run, which was seen to block the engine, and is blocked, too.
  await stage.until(async () => (await stage.guiltyRun())?.status === 'running')
  started.child.kill('SIGKILL')
  await stage.untilGone(suspects)
}, 60_000)

test('the process that tries suspects begins no step after its parent was killed', async () => {
  const step = "appendFileSync('steps.txt', '.')"
  const stage = new GuiltyStage({ top: "import { appendFileSync } from 'node:fs'", steps: step })
  const worker = await stage.startWithSuspect()
  const begun = () => (existsSync(`${stage.root}/steps.txt`) ? readFileSync(`${stage.root}/steps.txt`).length : 0)
  await stage.until(() => begun() > 20)
  const suspects = await stage.suspectsOf(worker)
  worker.child.kill('SIGKILL')
  // Not its `close`: the process that it leaves behind has its output, too.
  await once(worker.child, 'exit')
  const before = begun()
  await stage.untilGone(suspects)
  // One may have begun as its parent went.
  expect(begun() - before).toBeLessThanOrEqual(1)
}, 60_000)

test('the process that tries suspects ends a step at work once its parent is killed', async () => {
  const step = "for (;;) { appendFileSync('calls.txt', '.'); await new Promise((done) => setTimeout(done, 20)) }"
  const stage = new GuiltyStage({ top: "import { appendFileSync } from 'node:fs'", step }, { drain: '1h' })
  const worker = await stage.startWithSuspect()
  const calls = () => (existsSync(`${stage.root}/calls.txt`) ? readFileSync(`${stage.root}/calls.txt`).length : 0)
  await stage.until(() => calls() > 5)
  const suspects = await stage.suspectsOf(worker)
  worker.child.kill('SIGKILL')
  await stage.untilGone(suspects)
  // Its end is no death of the run.
  expect(await stage.guiltyRun()).toMatchObject({ status: 'pending' })
}, 60_000)

test('synchronous work beyond a lease in one of two worker processes lose it no run', async () => {
  const ms = LEASE_MS + HEARTBEAT_MS
  const work = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms}); return 'done'`
  const stage = new GuiltyStage({ step: work }, { engine: { hang: '2m' } })
  const busy = await stage.start('worker')
  const idle = await stage.start('worker')
  const receiver = await stage.start('receiver')
  await stage.deliver('evt_busy', 'file.deleted')
  await stage.until(async () => (await stage.guiltyRun())?.status === 'completed')
  expect(await stage.guiltyRun()).toMatchObject({ output: '"done"' })
  const lines = [busy, idle, receiver].flatMap((each) => each.lines)
  expect(lines.filter(({ message }) => /recovered|lost|ended/.test(String(message)))).toEqual([])
}, 120_000)

test('a loop without end hangs no worker process of several, and only its run is parked', async () => {
  const stage = new GuiltyStage({ step: BLOCK })
  const workers = [await stage.start('worker'), await stage.start('worker')]
  const receiver = await stage.start('receiver')
  await stage.occupy(NEIGHBOURS)
  await stage.deliver('evt_guilty', 'file.deleted')
  const ends = () =>
    workers.flatMap(({ lines }) => lines).filter(({ message }) => message === 'the engine ended and is started again')
  await stage.until(() => ends().length > 0)
  stage.goOn()
  await stage.untilParked()
  // Both workers go on with what comes next.
  for (let n = 0; n < 20; n++) await stage.deliver(`evt_after_${n}`)
  await stage.untilNeighboursDone()
  const parked = [...workers, receiver]
    .flatMap(({ lines }) => lines)
    .filter(({ message }) => {
      return message === 'run waits for a person'
    })
  expect(new Set(parked.map(({ run }) => run))).toEqual(new Set([(await stage.guiltyRun())?.id]))
  for (const { child, exited } of [...workers, receiver]) {
    child.kill('SIGTERM')
    expect(await exited).toEqual({ code: 0, signal: null })
  }
}, 120_000)
