import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { Interrupted, TerminalError } from '../../../src/core/errors.ts'
import { MAX_OUTPUT_BYTES, ROW_OUTPUT_BYTES } from '../../../src/core/runs/step.ts'
import { hashModule } from '../../../src/project/workflows/hash-module.ts'
import { loadWorkflows } from '../../../src/project/workflows/load-workflows.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { createTestEngine } from '../../support/test-engine.ts'

/** JSON text of exactly so many bytes. */
const sized = (bytes: number) => 'x'.repeat(bytes - 2)

test('keeps a result in its row up to 64 KiB and apart above, the same to the author', async () => {
  const engine = createTestEngine()
  const reads: string[] = []
  const store = new Proxy(engine.store, {
    get(target, name) {
      if (name === 'readOutput') {
        return (run: string, key: string | null) => {
          reads.push(String(key))
          return target.readOutput(run, key)
        }
      }
      return Reflect.get(target, name)
    },
  })
  const seen: number[] = []
  await engine.start(
    [
      defineWorkflow({
        id: 'large',
        on: '*',
        run: async ({ step }) => {
          const small = await step.run('small', () => sized(ROW_OUTPUT_BYTES))
          await step.sleep('nap', '1m')
          const large = await step.run('large', () => ({ text: 'é'.repeat(100_000), n: 1 }))
          await step.sleep('other', '1m')
          seen.push(small.length, large.text.length)
          return [sized(ROW_OUTPUT_BYTES)]
        },
      }),
    ],
    { store },
  )
  const { id } = await engine.run('large')
  await engine.advance(id, '1m')
  expect(reads).toEqual(['small'])
  const run = await engine.advance(id, '1m')
  expect(reads).toEqual(['small', 'small', 'large'])
  expect(seen).toEqual([ROW_OUTPUT_BYTES - 2, 100_000])
  const bytes = 200_000 + '{"text":"","n":1}'.length
  expect(await engine.store.listSteps(id)).toMatchObject([
    { key: 'small', output: JSON.stringify(sized(ROW_OUTPUT_BYTES)) },
    { key: 'nap' },
    { key: 'large', output: null, apartBytes: bytes },
    { key: 'other' },
  ])
  expect(run).toMatchObject({ status: 'completed', output: null, apartBytes: ROW_OUTPUT_BYTES + 2 })
  expect(JSON.parse(await engine.store.readOutput(id, null))).toEqual([sized(ROW_OUTPUT_BYTES)])
})

test('refuses a result of more than 32 MiB at once, with advice, from a step and from a run', async () => {
  const engine = createTestEngine()
  let calls = 0
  await engine.start([
    defineWorkflow({
      id: 'step',
      on: '*',
      run: ({ step }) =>
        step.run('big', () => {
          calls += 1
          return sized(MAX_OUTPUT_BYTES + 1)
        }),
    }),
    defineWorkflow({ id: 'run', on: '*', run: () => sized(MAX_OUTPUT_BYTES + 1) }),
    defineWorkflow({ id: 'most', on: '*', run: ({ step }) => step.run('big', () => sized(MAX_OUTPUT_BYTES)) }),
  ])
  const advice = { status: 'failed', error: { message: expect.stringContaining('Return a summary') } }
  expect(await engine.run('step')).toMatchObject(advice)
  expect(await engine.run('run', 'evt_2')).toMatchObject(advice)
  expect(await engine.run('most', 'evt_3')).toMatchObject({ status: 'completed', apartBytes: MAX_OUTPUT_BYTES })
  expect(calls).toBe(1)
})

test('a run whose output is no JSON fails and says so', async () => {
  const engine = createTestEngine()
  await engine.start([defineWorkflow({ id: 'odd', on: '*', run: () => 1n })])
  expect(await engine.run('odd')).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('BigInt') },
  })
})

test('P9: a step that happens at most once is not begun again after its process died', async () => {
  const engine = createTestEngine()
  let calls = 0
  const begun = Promise.withResolvers<void>()
  const workflow = defineWorkflow({
    id: 'once',
    on: '*',
    run: async ({ step }) => {
      const pay = () => {
        calls += 1
        begun.resolve()
        return new Promise<void>(() => {})
      }
      const error = await step.run('pay', pay, { once: true }).catch((error: unknown) => error)
      await step.sleep('nap', '1m')
      return { isInterrupted: error instanceof Interrupted, step: (error as Interrupted).step }
    },
  })
  const first = await engine.start([workflow], { drainMs: 0 })
  const gone = engine.run('once')
  await begun.promise
  const [{ id } = { id: '' }] = await engine.store.listRuns({ limit: 1 })
  expect(await engine.store.listSteps(id)).toMatchObject([{ key: 'pay', status: 'started' }])
  engine.clock.advance(0)
  const stopped = first.stop()
  engine.clock.advance(1)
  await stopped
  await gone
  await engine.start([workflow])
  await engine.notices.once('run.parked')
  const run = await engine.advance(id, '1m')
  expect(run).toMatchObject({ status: 'completed', output: '{"isInterrupted":true,"step":"pay"}' })
  expect(calls).toBe(1)
})

test('neither a failure nor a timeout of such a step is tried again', async () => {
  const engine = createTestEngine()
  let calls = 0
  await engine.start([
    defineWorkflow({
      id: 'once',
      on: '*',
      retry: { attempts: 5 },
      run: ({ step }) =>
        step.run(
          'pay',
          () => {
            calls += 1
            throw new Error('declined')
          },
          { once: true },
        ),
    }),
  ])
  expect(await engine.run('once')).toMatchObject({ status: 'failed' })
  expect(calls).toBe(1)
})

test('maps items to steps, some at a time, with their results in order', async () => {
  const engine = createTestEngine()
  let atWork = 0
  let most = 0
  await engine.start([
    defineWorkflow({
      id: 'map',
      on: '*',
      run: ({ step }) =>
        step.map(
          'check',
          Array.from({ length: 20 }, (_, n) => n),
          (n) => `k${n}`,
          async (n, { idempotencyKey }) => {
            most = Math.max(most, ++atWork)
            await new Promise((resolve) => setImmediate(resolve))
            atWork -= 1
            return `${n} ${idempotencyKey.split('/')[1]}`
          },
          { parallel: 3 },
        ),
    }),
  ])
  const run = await engine.run('map')
  expect(JSON.parse(run.output ?? '')).toEqual(Array.from({ length: 20 }, (_, n) => `${n} check[k${n}]`))
  expect(most).toBe(3)
})

test('an item that waits for its next attempt holds up none of the others', async () => {
  const engine = createTestEngine()
  const calls: string[] = []
  await engine.start([
    defineWorkflow({
      id: 'map',
      on: '*',
      retry: { attempts: 3, min: '10s' },
      run: ({ step }) =>
        step.map(
          'check',
          ['a', 'b', 'c', 'd', 'e'],
          (name) => name,
          (name, { attempt }) => {
            calls.push(`${name}${attempt}`)
            if ('ab'.includes(name) && attempt === 1) throw new Error('not yet')
            return name
          },
          { parallel: 2 },
        ),
    }),
  ])
  const parked = await engine.run('map')
  expect(calls).toEqual(['a1', 'b1', 'c1', 'd1', 'e1'])
  expect(await engine.advance(parked.id, '5s')).toMatchObject({ status: 'completed', output: '["a","b","c","d","e"]' })
  expect(calls.slice(5)).toEqual(['a2', 'b2'])
})

test('throws the failure of an item, the same in a replay, and begins no item after it', async () => {
  const engine = createTestEngine()
  const calls: number[] = []
  const caught: string[] = []
  await engine.start([
    defineWorkflow({
      id: 'map',
      on: '*',
      retry: { attempts: 1 },
      run: async ({ step }) => {
        const check = (n: number) => {
          calls.push(n)
          if (n > 2) throw new Error(`no ${n}`)
        }
        await step
          .map('check', [1, 2, 3, 4, 5, 6], String, check, { parallel: 2 })
          .catch((error) => caught.push(error.step))
        await step.sleep('nap', '1m')
      },
    }),
  ])
  const parked = await engine.run('map')
  await engine.advance(parked.id, '1m')
  expect(calls).toEqual([1, 2, 3, 4])
  expect(caught).toEqual(['check[3]', 'check[3]'])
})

test('an item that failed for good decides the map: one that waited for its next attempt then is not begun again', async () => {
  const engine = createTestEngine()
  const calls: string[] = []
  const caught: string[] = []
  await engine.start([
    defineWorkflow({
      id: 'map',
      on: '*',
      retry: { attempts: 2, min: '1s', max: '1s' },
      run: async ({ step }) => {
        const check = (name: string) => {
          calls.push(name)
          throw name === 'b' ? new TerminalError('never') : new Error('not yet')
        }
        await step.map('check', ['a', 'b'], String, check).catch((error) => caught.push(error.step))
        await step.sleep('nap', '1m')
      },
    }),
  ])
  const parked = await engine.run('map')
  await engine.advance(parked.id, '10s')
  await engine.advance(parked.id, '1m')
  expect(calls).toEqual(['a', 'b'])
  expect(new Set(caught)).toEqual(new Set(['check[b]']))
})

test('refuses two items of one key', async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({
      id: 'map',
      on: '*',
      run: ({ step }) =>
        step.map(
          'check',
          ['a', 'a'],
          (x) => x,
          (x) => x,
        ),
    }),
  ])
  expect(await engine.run('map')).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('two items have the key "a"') },
  })
})

test('a run of 10,000 steps is replayed with one reading and no writing', async () => {
  const engine = createTestEngine()
  const calls: string[] = []
  const store = new Proxy(engine.store, {
    get(target, name) {
      const method = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...args: unknown[]) => {
        calls.push(String(name))
        return Reflect.apply(method, target, args)
      }
    },
  })
  const COUNT = 10_000
  let ran = 0
  let replayMs = 0
  await engine.start(
    [
      defineWorkflow({
        id: 'long',
        on: '*',
        run: async ({ step }) => {
          const begunAt = performance.now()
          let sum = 0
          for (let n = 0; n < COUNT; n++) {
            sum += await step.run(
              ['add', n],
              () => {
                ran += 1
                return n
              },
              { effect: 'read' },
            )
          }
          replayMs = performance.now() - begunAt
          await step.sleep('nap', '1m')
          return sum
        },
      }),
    ],
    { store },
  )
  const parked = await engine.run('long')
  calls.length = 0
  const run = await engine.advance(parked.id, '1m')
  expect(run).toMatchObject({ status: 'completed', output: String((COUNT * (COUNT - 1)) / 2) })
  expect(ran).toBe(COUNT)
  expect(calls.filter((name) => name === 'listSteps')).toHaveLength(1)
  // The end of the sleep.
  expect(calls.filter((name) => name === 'saveCheckpoint')).toHaveLength(1)
  expect(calls).not.toContain('readOutput')
  // By hand 15 ms.
  expect(replayMs).toBeLessThan(1_000)
})

test('warns of a name that stands in a loop without a key, once', async () => {
  const engine = createTestEngine()
  await engine.start([
    defineWorkflow({
      id: 'loop',
      on: '*',
      run: async ({ step }) => {
        for (let n = 0; n < 150; n++) await step.run('copy', () => n, { effect: 'read' })
        for (let n = 0; n < 150; n++) await step.run(['keyed', n], () => n, { effect: 'read' })
        await step.sleep('nap', '1m')
      },
    }),
  ])
  const parked = await engine.run('loop')
  await engine.advance(parked.id, '1m')
  const warnings = engine.heard.filter((notice) => notice.kind === 'step.repeated')
  expect(warnings).toMatchObject([{ run: parked.id, step: 'copy', count: 100 }])
})

test('leaves a run to a person whose finished step is not in the changed code any more', async () => {
  const engine = createTestEngine()
  const first = await engine.start([
    defineWorkflow({
      id: 'changing',
      on: '*',
      run: async ({ step }) => {
        await step.run('reserve', () => 1)
        await step.sleep('nap', '1m')
      },
    }),
  ])
  const parked = await engine.run('changing')
  await first.stop()
  await engine.start([defineWorkflow({ id: 'changing', on: '*', run: ({ step }) => step.sleep('nap', '1m') })])
  expect(await engine.advance(parked.id, '1m')).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: 'code changed: step "reserve" was finished but not reached',
  })
})

test('goes on under changed code that still knows every step, new ones between them', async () => {
  const engine = createTestEngine()
  const first = await engine.start([
    defineWorkflow({
      id: 'changing',
      on: '*',
      run: async ({ step }) => {
        const n = await step.run('reserve', () => 1)
        await step.sleep('nap', '1m')
        return n
      },
    }),
  ])
  const parked = await engine.run('changing')
  await first.stop()
  await engine.start([
    defineWorkflow({
      id: 'changing',
      on: '*',
      run: async ({ step }) => {
        await step.run('new', () => 0)
        await step.sleep('nap', '1m')
        return (await step.run('reserve', () => 9)) + 1
      },
    }),
  ])
  expect(await engine.advance(parked.id, '1m')).toMatchObject({ status: 'completed', output: '2' })
})

test('leaves a run to a person when a step has become another verb, and writes nothing', async () => {
  const engine = createTestEngine()
  let isChanged = false
  await engine.start([
    defineWorkflow({
      id: 'odd',
      on: '*',
      run: async ({ step }) => {
        if (isChanged) await step.sleep('reserve', '1h')
        else await step.run('reserve', () => 1)
        await step.sleep('nap', '1m')
      },
    }),
  ])
  const parked = await engine.run('odd')
  const before = await engine.store.listSteps(parked.id)
  isChanged = true
  expect(await engine.advance(parked.id, '1m')).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: 'step "reserve" was a `run` and is a `sleep` now',
  })
  expect(await engine.store.listSteps(parked.id)).toEqual(before)
})

test('the hash of a module changes with the files of the project that it imports', async () => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'lib'))
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  write('a.workflow.ts', `import { x } from './lib/x.ts'\nexport default x`)
  write('lib/x.ts', `export { x } from '../y.ts'\nconst later = () => import('./z.ts')\nvoid later`)
  write('y.ts', `import './a.workflow.ts'\nexport const x = 1`)
  write('lib/z.ts', 'export {}')
  const file = join(folder, 'a.workflow.ts')
  const hashes = [await hashModule(file)]
  for (const changed of ['y.ts', 'lib/z.ts']) {
    write(changed, `export const x = '${changed}'`)
    hashes.push(await hashModule(file))
  }
  expect(new Set(hashes).size).toBe(3)
  expect(await hashModule(file)).toBe(hashes.at(-1))
})

test('a module that gives a key another meaning is broken, and takes no other down', async () => {
  const folder = tempFolder()
  const core = join(import.meta.dirname, '../../../src/author/index.ts')
  const module = (id: string, key: string) => `
    import { defineEvent, defineWorkflow, z } from '${core}'
    const on = defineEvent('clash.test', { data: z.looseObject({}), keys: { thing: ${key} } })
    export default defineWorkflow({ id: '${id}', on, run: () => null })`
  writeFileSync(join(folder, 'a.workflow.ts'), module('a', '(d) => d.one as string'))
  writeFileSync(join(folder, 'b.workflow.ts'), module('b', '(d) => d.two as string'))
  writeFileSync(join(folder, 'c.workflow.ts'), module('c', '(d) => d.one as string'))
  const modules = await loadWorkflows(folder)
  expect(modules).toMatchObject([
    { kind: 'loaded', workflow: { id: 'a', codeHash: expect.stringMatching(/^[0-9a-f]{16}$/) } },
    { kind: 'broken', file: 'b.workflow.ts', error: { code: 'invalid_workflow' } },
    { kind: 'loaded', workflow: { id: 'c' } },
  ])
})
