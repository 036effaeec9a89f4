import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Checkpoint } from '../../../../src/core/runs/step.ts'
import { checkpoint, queueRun } from '../../../support/fixtures.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { runHere } from '../../support/run-here.ts'
import { openTestProject } from '../../support/test-project.ts'

const DOOR = join(import.meta.dirname, '../../../../src/author/index.ts')

/** A project with two runs of `follow-up` that have finished the step `a`, and wait in `open`. */
async function openWaiting(open?: Checkpoint) {
  const { store, dataDir } = await openTestProject()
  const now = Date.now()
  const runs: string[] = []
  for (const event of ['evt_1', 'evt_2']) {
    runs.push(await queueRun(store, event, 'follow-up', now))
    const [claimed] = await store.claimRuns('wrk_1', 1, now)
    if (!claimed) throw new Error('a run was queued')
    await store.saveCheckpoint(claimed.lease, checkpoint('a', { startedAt: now, finishedAt: now }), undefined, {
      codeHash: 'old',
    })
    if (open) await store.saveCheckpoint(claimed.lease, open)
    await store.parkRun(claimed.lease, { dueAt: now + 9e8, reason: 'sleeps' })
  }
  await queueRun(store, 'evt_3', 'follow-up', now)
  const check = (run: string, ...args: string[]) => {
    const folder = tempFolder()
    const code = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'follow-up', on: 'file.created', run: ${run} })`
    writeFileSync(join(folder, 'follow-up.workflow.ts'), code)
    return runHere(dataDir, ['deploys', 'check', '--workflows', folder, ...args])
  }
  return { store, runs, check }
}

test('"deploys check" lets code pass that goes on with every unfinished run, and writes nothing', async () => {
  const { store, runs, check } = await openWaiting()
  const before = await store.readRecordings(runs)
  const good = `async ({ step }) => { await step.run('a', () => 1); await step.sleep('nap', '1d') }`
  const { exit, stdout } = await check(good)
  expect(stdout).toContain('2 unfinished runs have begun, and all go on with this code.')
  expect(exit).toBe(0)
  expect(await store.readRecordings(runs)).toEqual(before)
})

test('"deploys check" names the runs that would not go on, once for each reason, and exits with 7', async () => {
  const { runs, check } = await openWaiting()
  const bad = `async ({ step }) => { await step.run('b', () => 1) }`
  const { exit, json } = await check(bad, '--json')
  expect(exit).toBe(7)
  expect(json.data).toMatchObject({ checked: 2, fits: 0, broken: [] })
  expect(json.data.misfits).toMatchObject([{ workflow: 'follow-up', kind: 'diverges', count: 2 }])
  expect([...json.data.misfits[0].runs].sort()).toEqual([...runs].sort())
  const { stdout, stderr } = await check(bad)
  expect(stdout).toMatch(/follow-up +2 +diverge .*step "a" \(run\) was expected, and step "b" \(run\) came at .*\.ts:/)
  expect(stdout).toContain('2 unfinished runs have begun: 0 go on with this code, 2 would not.')
  expect(stderr).toContain('upshot runs resume')
  expect((await check(bad, '--workflow', 'count')).exit).toBe(0)
})

test('code that does something outside steps, or cannot be loaded, does not pass', async () => {
  const { check } = await openWaiting()
  const acting = `async ({ step }) => { await fetch('http://127.0.0.1:9/'); await step.run('a', () => 1) }`
  expect((await check(acting, '--json')).json.data.misfits).toMatchObject([
    {
      kind: 'fails',
      reason: expect.stringMatching(/fetch GET outside of every step at .*follow-up\.workflow\.ts:2:.* is refused/),
    },
  ])
  const broken = await check('nothing.at.all', '--json')
  expect(broken.exit).toBe(7)
  expect(broken.json.data).toMatchObject({
    broken: [{ file: 'follow-up.workflow.ts' }],
    misfits: [
      { kind: 'halts', reason: expect.stringMatching(/^no module defines the workflow "follow-up"; follow-up/) },
    ],
  })
})

test('"deploys check" names the open waits whose event the code has changed', async () => {
  const { check } = await openWaiting(checkpoint('go', { position: 1, kind: 'wait', effect: 'read', ...OPEN }))
  const wait = (on: string) =>
    check(
      `async ({ step }) => { await step.run('a', () => 1); await step.waitFor('go', { on: '${on}', timeout: '1d' }) }`,
    )
  expect((await wait('file.moved')).exit).toBe(0)
  const { exit, stdout, stderr } = await wait('file.renamed')
  expect(exit).toBe(7)
  expect(stdout).toMatch(
    /2 +keep its wait +step "go" still waits for file.moved, and the code asks for file.renamed at/,
  )
  expect(stderr).toContain('give the step another name')
  expect(stderr).not.toContain('upshot runs resume')
})

const OPEN = {
  status: 'waiting',
  target: 'file.moved',
  output: null,
  finishedAt: null,
  dueAt: Date.now() + 9e8,
} as const
