import { expect } from 'vitest'
import { MAX_OUTPUT_BYTES, ROW_OUTPUT_BYTES } from '../../../src/core/runs/step.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

/** JSON text of exactly so many bytes. */
const sized = (bytes: number) => 'x'.repeat(bytes - 2)

test('a result is stored in its row up to 64 KiB and separately above, and reads the same', async ({ engine }) => {
  const reads: string[] = []
  const readOutput = (run: string, key: string | null) => {
    reads.push(String(key))
    return engine.store.readOutput(run, key)
  }
  const seen: number[] = []
  await engine.start(
    [
      define('large', async ({ step }) => {
        const small = await step.run('small', () => sized(ROW_OUTPUT_BYTES))
        await step.sleep('nap', '1m')
        const large = await step.run('large', () => ({ text: 'é'.repeat(100_000), n: 1 }))
        await step.sleep('other', '1m')
        seen.push(small.length, large.text.length)
        return [sized(ROW_OUTPUT_BYTES)]
      }),
    ],
    { store: { ...engine.store, readOutput } },
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

test('a result of more than 32 MiB is refused with advice, from a step and from a run', async ({ engine }) => {
  let calls = 0
  await engine.start([
    define('step', ({ step }) =>
      step.run('big', () => {
        calls += 1
        return sized(MAX_OUTPUT_BYTES + 1)
      }),
    ),
    define('run', () => sized(MAX_OUTPUT_BYTES + 1)),
    define('most', ({ step }) => step.run('big', () => sized(MAX_OUTPUT_BYTES))),
  ])
  const advice = { status: 'failed', error: { message: expect.stringContaining('Return a summary') } }
  expect(await engine.run('step')).toMatchObject(advice)
  expect(await engine.run('run', 'evt_2')).toMatchObject(advice)
  expect(await engine.run('most', 'evt_3')).toMatchObject({ status: 'completed', apartBytes: MAX_OUTPUT_BYTES })
  expect(calls).toBe(1)
})
