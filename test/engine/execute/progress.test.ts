import { expect } from 'vitest'
import type { Progress } from '../../../src/core/runs/annotations/progress.ts'
import { awaitFound, awaitStatus } from '../../support/await-runs.ts'
import { createTestEngine, type TestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

/** All that was written of progress so far, as `done of total`. */
function written({ heard }: TestEngine): string[] {
  return heard.flatMap((notice) => (notice.kind === 'run.progress' ? [short(notice.progress)] : []))
}

function short({ done, total, failed, note }: Progress): string {
  return `${done} of ${total}${failed === 0 ? '' : `, ${failed} failed`}${note === null ? '' : ` ${note}`}`
}

async function progressOf({ store }: TestEngine, run: string) {
  return (await store.findRun(run))?.progress
}

test('the newest value is written at most once a second, and at the end of a pass', async ({ engine }) => {
  const gate = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { promise: told, resolve: tell } = Promise.withResolvers<void>()
  await engine.serve('counts', async ({ step, progress }) => {
    progress(0, 100, 'files compared')
    await step.run('work', async () => {
      for (let n = 1; n <= 50; n++) progress(n, 100, 'files compared')
      tell()
      await gate[0]?.promise
      for (let n = 51; n <= 60; n++) progress(n, 100, 'files compared')
      await gate[1]?.promise
    })
    progress(70.5, 100, 'files compared')
    await step.sleep('nap', '1m')
    progress(100, 100)
  })
  const ended = engine.run('counts')
  await told
  expect(written(engine)).toEqual([])
  engine.clock.advance('1s')
  await awaitFound(engine.notices, async () => written(engine)[0] ?? null)
  expect(written(engine)).toEqual(['50 of 100 files compared'])
  engine.clock.advance('10s')
  gate[0]?.resolve()
  await awaitFound(engine.notices, async () => written(engine)[1] ?? null)
  gate[1]?.resolve()
  const parked = await ended
  expect(written(engine).slice(2)).toEqual(['70.5 of 100 files compared'])
  expect(parked.progress).toMatchObject({ done: 70.5, total: 100, failed: 0, note: 'files compared' })
  expect(parked.progress?.rate).toBeCloseTo(70.5 / 11, 1)
  const done = await engine.advance(parked.id, '1m')
  expect(done).toMatchObject({ status: 'completed', progress: { done: 100, total: 100, note: null } })
})

test('a replay turns nothing back', async ({ engine }) => {
  const seen: unknown[] = []
  await engine.start(
    [
      define('loops', async ({ run: { id }, step, progress }) => {
        for (let n = 0; n < 3; n++) {
          progress(n, 3)
          // A replay may take longer than a second.
          engine.clock.advance('2s')
          await step.run(['part', n], () => n)
          seen.push((await progressOf(engine, id))?.done)
          await step.sleep(['nap', n], '1m')
        }
        progress(3, 3)
      }),
    ],
    { passCache: { max: 0 } },
  )
  const first = await engine.run('loops')
  const second = await engine.advance(first.id, '1m')
  const third = await engine.advance(first.id, '1m')
  const last = await engine.advance(first.id, '1m')
  expect([first, second, third, last].map(({ progress }) => progress?.done)).toEqual([0, 1, 2, 3])
  expect(written(engine)).toEqual(['0 of 3', '1 of 3', '2 of 3', '3 of 3'])
})

test('a pass that finishes a list has the last word about it, and the passes behind it write nothing', async () => {
  const engine = createTestEngine()
  let attempts = 0
  await engine.start(
    [
      define('again', { retry: { attempts: 2, min: '1m', max: '1m' } }, async ({ step }) => {
        await step.map('copy', [1, 2, 3], String, (n) => {
          if (n === 2 && attempts++ === 0) throw new Error('once')
        })
        for (let nap = 0; nap < 3; nap++) await step.sleep(['nap', nap], '1m')
      }),
    ],
    { passCache: { max: 0 } },
  )
  let run = await engine.run('again')
  for (let pass = 0; run.status !== 'completed' && pass < 9; pass++) run = await engine.advance(run.id, '2m')
  expect(run).toMatchObject({ status: 'completed', progress: { done: 3, total: 3 } })
  expect(written(engine)).toEqual(['2 of 3 copy', '3 of 3 copy'])
})

test('step.map and deletes of a list tell by themselves, with what failed, and code has the last word', async () => {
  const engine = createTestEngine()
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  await engine.serve('maps', { retry: { attempts: 1 } }, async ({ step, progress }) => {
    const map = step.map(
      'copy',
      [1, 2, 3, 4, 5],
      String,
      async (n) => {
        if (n > 2) await gate
        if (n === 4) throw new Error('no luck')
      },
      { parallel: 3 },
    )
    await map.catch(() => {})
    await step.map('quick', [1, 2], String, () => {})
    await step.sleep('nap', '1m')
    progress(1, 2, 'mine')
    await step.map('again', [1, 2, 3], String, () => {})
  })
  const ended = engine.run('maps')
  await awaitFound(engine.notices, async () => {
    const steps = engine.heard.filter(({ kind }) => kind === 'step.completed')
    return steps.length >= 2 ? steps : null
  })
  engine.clock.advance('2s')
  await awaitFound(engine.notices, async () => written(engine)[0] ?? null)
  expect(written(engine)).toEqual(['2 of 5 copy'])
  open()
  const parked = await ended
  expect(short(parked.progress as Progress)).toMatch(/^\d of 7, 1 failed quick$/)
  const done = await engine.advance(parked.id, '1m')
  expect(done).toMatchObject({ status: 'completed', progress: { done: 1, total: 2, note: 'mine' } })
})

test('a quick list writes nothing, and a word that is no number is an error with its place', async ({ engine }) => {
  const errors: string[] = []
  await engine.serve('quick', async ({ step, progress }) => {
    await step.map('copy', [1, 2, 3], String, () => {})
    for (const [done, total] of [
      [-1, 1],
      [1, Number.NaN],
      ['1', 2],
    ] as [number, number][]) {
      try {
        progress(done, total)
      } catch (error) {
        errors.push((error as Error).message)
      }
    }
  })
  const run = await engine.run('quick')
  expect(await awaitStatus(engine, run.id, 'completed')).toMatchObject({ progress: null })
  expect(written(engine)).toEqual([])
  const place = 'at test/engine/execute/progress.test.ts:'
  expect(errors).toEqual(
    ['done', 'total', 'done'].map((name) => expect.stringMatching(`^progress: \`${name}\` .*${place}`)),
  )
})
