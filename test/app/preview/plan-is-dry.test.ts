import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { IsolatedProcess } from '../../../src/app/preview/isolated-process.ts'
import { imagineRun } from '../../../src/app/preview/plan-event.ts'
import { DEFAULT_POLICY } from '../../../src/core/safety/guard.ts'
import type { Previewed } from '../../../src/engine/preview/previewed.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { NOW } from '../../support/fixtures.ts'
import { BLOCK } from '../../support/program.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openTestStore } from '../../support/test-store.ts'
import { openZoo } from './open-zoo.ts'
import { type Animal, ZOO } from './zoo.ts'

/** The effects, the other steps and the end that a plan tells of. */
function listTold({ effects, others, end }: Pick<Previewed, 'effects' | 'others' | 'end'>): string[] {
  return [...effects.map((each) => each.class), ...others.map(({ kind }) => kind), end.kind]
}

test('a plan leaves the world as it was, whatever its code tries, and names what it refused', async () => {
  const { isolated, plan, readWorld } = await openZoo({})
  const before = readWorld()
  expect(before.reached).toEqual([])
  expect(isolated.code.broken).toMatchObject([
    { file: 'on-load.workflow.ts', error: { message: expect.stringMatching(/fetch GET.* refused at .*on-load/) } },
  ])
  for (const [index, { name, call, tells }] of ZOO.entries()) {
    const { undeclared, ...planned } = await plan(`zoo-${index}`)
    expect(readWorld(), name).toEqual(before)
    if (tells !== undefined) expect(listTold(planned), name).toContain(tells)
    const calls = undeclared.map((each) => each.call)
    expect(call === null ? calls.length === 0 : calls.includes(call), `${name}: ${calls}`).toBe(true)
    const own = undeclared.filter(({ place }) => place !== null && !/zoo-\w+\.workflow\.ts:/.test(place))
    expect(own, name).toEqual([])
  }
  expect(ZOO.length).toBeGreaterThanOrEqual(100)
})

/** Plans of generated workflows: ten thousand of them take minutes. */
const [GENERATED, PLANS_EACH] = [25, 4]

/** Ways to act, one after the other, at once, or in a loop; an error ends only its own. */
function generateAnimals(count: number): Animal[] {
  const random = seededRandom(22)
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  // In a step, an error in a timer leaves its function at work for as long as that takes.
  const short = ZOO.filter(({ name }) => name !== 'an error in a timer')
  const act = () => `(async () => { ${pick(short).code} })().catch(() => {})`
  const shapes = [
    () => `await ${act()}`,
    () => `await Promise.all([${act()}, ${act()}])`,
    () => `for (let n = 0; n < 2; n++) await ${act()}`,
    () => `await step.run('look', () => ${act()}, { effect: 'read' })`,
    () => `await Promise.race([${act()}, step.sleep('nap', '5m')])`,
  ]
  const lines = () => Array.from({ length: 1 + Math.floor(random() * 5) }, () => pick(shapes)())
  return Array.from({ length: count }, (_, n) => ({ name: `generated ${n}`, code: lines().join('\n'), call: null }))
}

test('plans of generated workflows leave the world as it was', async () => {
  const { plan, readWorld } = await openZoo({ animals: generateAnimals(GENERATED) })
  // A read may send a GET, and nothing else.
  const readChanges = () => {
    const { reached, ...rest } = readWorld()
    return { ...rest, reached: reached.filter((each) => !/^(a connection|(GET|HEAD) )/.test(each)) }
  }
  const before = readChanges()
  let [refused, effects] = [0, 0]
  for (let n = 0; n < GENERATED * PLANS_EACH; n++) {
    const planned = await plan(`zoo-${n % GENERATED}`)
    refused += planned.undeclared.length
    effects += planned.effects.length
    if (n % GENERATED === GENERATED - 1) expect(readChanges(), `up to plan ${n}`).toEqual(before)
  }
  expect(refused).toBeGreaterThan(GENERATED)
  expect(effects).toBeGreaterThan(10)
})

test('a read may look, and the connection that it opened ends with it', async () => {
  const code = `const pool = new http.Agent({ keepAlive: true })
    const read = { effect: 'read' }
    const get = (done, fail) => {
      http.get(U + 'b', { agent: pool }, (response) => response.resume().on('end', done)).on('error', fail)
    }
    await step.run('a', async () => (await fetch(U + 'a')).status, read)
    await step.run('b', () => new Promise(get), read)
    let held
    const keep = (done, fail) => http.get(U + 'c', (response) => {
      held = response.socket
      response.resume()
      done(1)
    }).on('error', fail)
    await step.run('c', () => new Promise(keep), read)
    held.write('POST /late HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n')
    held.on('error', () => {})
    await new Promise((done) => held.on('close', done))
    return { closed: held.destroyed, pooled: Object.keys(pool.freeSockets).length }`
  const { plan, readWorld } = await openZoo({ animals: [{ name: 'reads', code, call: null }] })
  const { end, undeclared } = await plan('zoo-0')
  expect([end, undeclared]).toEqual([{ kind: 'completed', output: '{"closed":true,"pooled":0}' }, []])
  const requests = readWorld().reached.filter((each) => each !== 'a connection')
  expect(requests).toEqual(['GET /a', 'GET /b', 'GET /c'])
})

test('JavaScript has the time and the chance of the run, which are the same in each preview', async () => {
  const code = `await step.sleep('nap', '1d')
    const chance = () => [Math.random(), crypto.randomUUID(), process.getBuiltinModule('crypto').randomUUID()]
    const inside = await step.run('look', () => [Date.now(), ...chance()], { effect: 'read' })
    const times = [Date.now(), new Date().getTime(), Date.parse(Date()), now()]
    return { times, inside, chance: chance(), isDate: new Date() instanceof Date, given: new Date(5).getTime() }`
  const { plan, event } = await openZoo({ animals: [{ name: 'time', code, call: null }] })
  const run = imagineRun(event, 'zoo-0', NOW)
  const [first, second] = [(await plan('zoo-0', run)).end, (await plan('zoo-0', run)).end]
  expect(second).toEqual(first)
  const { times, inside, chance, ...rest } = JSON.parse(first.kind === 'completed' ? first.output : '{}')
  expect([times, inside[0]]).toEqual([Array(4).fill(NOW + 86_400_000), NOW + 86_400_000])
  expect(new Set([...chance, ...inside.slice(1)]).size).toBe(6)
  expect(rest).toEqual({ isDate: true, given: 5 })
  const other = (await plan('zoo-0')).end
  expect(chance).not.toEqual(other.kind === 'completed' ? JSON.parse(other.output).chance : null)
})

test('an isolated process has no variable that names a key, an address, a channel or an option of Node', async () => {
  const ours = { SERVICE_API_KEY: 'sk_live_1', UPSHOT_SECRET_KEY: 'key', NODE_OPTIONS: '--no-warnings' }
  const given = { ...ours, PAGER_URL: 'https://pager.example.com/secret', OWN: 'kept' }
  for (const [name, value] of Object.entries(given)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const names = Object.keys(given).join("', '")
  const code = `return ['${names}'].filter((name) => process.env[name] !== undefined)`
  const animals = [{ name: 'variables', code, call: null }]
  const { plan } = await openZoo({ animals, secretVariables: ['PAGER_URL'] })
  expect((await plan('zoo-0')).end).toEqual({ kind: 'completed', output: '["OWN"]' })
})

test('a module that loops or exits while it is loaded is left out of the isolated process, and named', async () => {
  const modules = tempFolder()
  writeFileSync(join(modules, 'stuck.workflow.ts'), BLOCK)
  writeFileSync(join(modules, 'gone.workflow.ts'), 'process.exit(3)')
  writeFileSync(join(modules, 'sound.workflow.ts'), 'export default 1')
  const settings = { workflowsDir: modules, guard: DEFAULT_POLICY, spellings: {} }
  await using isolated = await IsolatedProcess.open({ settings, store: openTestStore() })
  expect(isolated.code.broken).toMatchObject([
    { file: 'gone.workflow.ts', error: { message: expect.stringContaining('process.exit') } },
    { file: 'sound.workflow.ts', error: { message: expect.stringContaining('has no workflow') } },
    { file: 'stuck.workflow.ts', error: { message: expect.stringContaining('no answer within 11000 ms') } },
  ])
})
