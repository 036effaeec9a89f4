import { expect } from 'vitest'
import { awaitFound, awaitStatus } from '../../support/await-runs.ts'
import { sendEvents } from '../../support/send-events.ts'
import { createTestEngine, type TestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const HERE = /, at test\/engine\/execute\/tags\.test\.ts:\d+:\d+/

async function tagsOf({ store }: TestEngine, run: string) {
  return (await store.findRun(run))?.tags
}

test('a run has the tags of its event before its code begins, also while no slot is free', async ({ engine }) => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const seen: unknown[] = []
  const run = async ({ run: { id } }: { run: { id: string } }) => {
    seen.push(await tagsOf(engine, id))
    await gate
  }
  const tags = ({ id }: { id: string }) => ({ event: id, batch: 7, first: true, none: null, empty: '' })
  const workflow = define('tagged', { tags }, run)
  const worker = await engine.start([workflow], { slots: 1, admitsAhead: () => true })
  const [first = ''] = await sendEvents(engine, workflow, [{}], [worker])
  await awaitStatus(engine, first, 'running')
  const [second = ''] = await sendEvents(engine, workflow, [{}], [worker])
  const expected = { event: expect.stringContaining('evt_tagged_'), batch: '7', first: 'true' }
  const ready = await awaitFound(engine.notices, async () => {
    const found = await engine.store.findRun(second)
    return found && Object.keys(found.tags).length > 0 ? found : null
  })
  expect(ready).toMatchObject({ status: 'pending', startedAt: null, tags: expected })
  open()
  await awaitStatus(engine, second, 'completed')
  expect(seen).toEqual([expected, expected])
})

test('a function of tags that throws or misfits makes the run wait for a person, and says where', async () => {
  const engine = createTestEngine()
  const given = {
    throws: () => {
      throw new Error('no customer')
    },
    list: () => ['acme'],
    late: async () => ({ customer: 'acme' }),
    long: () => ({ customer: 'a'.repeat(65) }),
    name: () => ({ 'the customer': 'acme' }),
    object: () => ({ customer: { id: 1 } }),
    many: () => Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`t${n}`, n])),
  }
  const reasons = {
    throws: /^its `tags` threw: no customer, at test\/engine\/execute\/tags\.test\.ts:\d+$/,
    list: /^its `tags` does not fit: it returned a list, not an object such as/,
    late: /^its `tags` returned a promise; it must be synchronous$/,
    long: /the value of "customer" has 65 characters, and at most 64 fit$/,
    name: /the name "the customer" must be a letter, then letters, digits/,
    object: /the value of "customer" must be text, a number or a boolean, not a value of type object$/,
    many: /it returned 11 tags, and a run has at most 10$/,
  }
  await engine.start(Object.entries(given).map(([id, tags]) => define(id, { tags: tags as never }, () => 'ran')))
  for (const [id, reason] of Object.entries(reasons)) {
    const run = await engine.run(id, `evt_${id}`)
    expect(run).toMatchObject({ status: 'waiting', dueAt: null, startedAt: null, tags: {} })
    expect(run.reason).toMatch(reason)
  }
})

test('tags in code are written with the next step, changed by name, and not lost at the end', async ({ engine }) => {
  const seen: unknown[] = []
  await engine.serve(
    'coded',
    { tags: () => ({ customer: 'acme', region: 'eu' }) },
    async ({ run: { id }, step, tag }) => {
      tag('region', 'us')
      tag('files', 3)
      await step.run('a', () => tag('inside', 'yes'))
      await step.run('b', async () => seen.push(await tagsOf(engine, id)))
      await step.sleep('nap', '1m')
      tag('last', true)
      return id
    },
  )
  const parked = await engine.run('coded')
  const first = { customer: 'acme', region: 'us', files: '3', inside: 'yes' }
  expect(parked).toMatchObject({ status: 'waiting', tags: first })
  expect(seen).toEqual([first])
  const done = await engine.advance(parked.id, '1m')
  expect(done).toMatchObject({ status: 'completed', tags: { ...first, last: 'true' } })
})

test('a tag that misfits, or is one too many, is an error with its place', async ({ engine }) => {
  const errors: string[] = []
  await engine.serve('strict', ({ tag }) => {
    const give = (name: string, value: unknown) => {
      try {
        tag(name, value as string)
      } catch (error) {
        errors.push((error as Error).message)
      }
    }
    for (let n = 0; n < 10; n++) give(`t${n}`, n)
    give('t0', 'again')
    give('t10', 'one more')
    give('', 'x')
    give('t1', '')
    give('t1', 'a\nb')
    give('t1', undefined)
  })
  const run = await engine.run('strict')
  expect(run).toMatchObject({ status: 'completed', tags: { t0: 'again', t9: '9' } })
  expect(errors).toHaveLength(5)
  for (const error of errors) expect(error).toMatch(HERE)
  expect(errors[0]).toContain('tag: the run has 10 tags already, and "t10" is one more')
})

test('a workflow without tags costs no call of the store', async ({ engine }) => {
  const calls: string[] = []
  const store = new Proxy(engine.store, {
    get: (target, name) => {
      const found = Reflect.get(target, name)
      if (typeof found !== 'function' || !/^(admit|save|complete)/.test(String(name))) return found
      return (...args: unknown[]) => {
        calls.push(`${String(name)} ${JSON.stringify((args[3] as object | undefined) ?? null)}`)
        return found.apply(target, args)
      }
    },
  })
  const run = async ({ step }: { step: { run(name: string, fn: () => void): Promise<void> } }) =>
    step.run('a', () => {})
  await engine.start([define('plain', run as never)], { store })
  await engine.run('plain')
  expect(calls).toEqual([expect.stringMatching(/^saveCheckpoint \{"codeHash":"\w+"\}$/), 'completeRun null'])
})
