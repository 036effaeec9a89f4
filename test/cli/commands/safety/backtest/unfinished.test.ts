import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Checkpoint } from '../../../../../src/core/runs/step.ts'
import { planCron } from '../../../../../src/core/service/plan-schedule.ts'
import { checkpoint, queueRun } from '../../../../support/fixtures.ts'
import { DOOR } from '../../../../support/program.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { runHere } from '../../../support/run-here.ts'
import { beginRun, openTestProject } from '../../../support/test-project.ts'

const ZOD = fileURLToPath(import.meta.resolve('zod'))

/** A project with two runs of `follow-up` that have finished the step `a`, and wait in `open`. */
async function openWaiting(open?: Checkpoint) {
  const { store, dataDir } = await openTestProject()
  const now = Date.now()
  const runs: string[] = []
  for (const event of ['evt_1', 'evt_2']) {
    const lease = await beginRun(store, event)
    runs.push(lease.runId)
    await store.saveCheckpoint(lease, checkpoint('a', { startedAt: now, finishedAt: now }), undefined, {
      codeHash: 'old',
    })
    if (open) await store.saveCheckpoint(lease, open)
    await store.parkRun(lease, { dueAt: now + 9e8, reason: 'sleeps' })
  }
  await queueRun(store, 'evt_3', 'follow-up', now)
  const check = (run: string, ...args: string[]) => {
    const folder = tempFolder()
    const code = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'follow-up', on: 'file.created', run: ${run} })`
    writeFileSync(join(folder, 'follow-up.workflow.js'), code)
    return runHere(dataDir, ['backtest', ...args, '--unfinished', '--workflows', folder])
  }
  return { store, runs, check }
}

test('code passes that goes on with every unfinished run, and nothing is written', async () => {
  const { store, runs, check } = await openWaiting()
  const before = await store.readRecordings(runs)
  const good = `async ({ step }) => { await step.run('a', () => 1); await step.sleep('nap', '1d') }`
  const { exit, stdout } = await check(good)
  expect(stdout).toBe(
    'all workflows: would 2 unfinished runs go on with this code?\n         2  go on with this code\n',
  )
  expect(exit).toBe(0)
  expect(await store.readRecordings(runs)).toEqual(before)
})

test('the runs that would not go on are named, once for each reason, and exit with 7', async () => {
  const { runs, check } = await openWaiting()
  const bad = `async ({ step }) => { await step.run('b', () => 1) }`
  const { exit, json } = await check(bad, '--json')
  expect(exit).toBe(7)
  expect(json.data).toMatchObject({ against: 'unfinished', runs: 2, same: 0, broken: [] })
  const [group, ...others] = json.data.groups
  expect([group, others]).toMatchObject([{ key: expect.stringMatching(/^~ end follow-up goes on → diverges: /) }, []])
  expect(group.samples.map(({ run }: { run: string }) => run).sort()).toEqual([...runs].sort())
  const markdown = join(tempFolder(), 'r.md')
  const { stdout, stderr } = await check(bad, '--markdown', markdown)
  expect(stdout).toMatch(/ 2 {2}~ end .*step "a" \(run\) was expected, and step "b" \(run\) came at .*\.js:/)
  expect(readFileSync(markdown, 'utf8')).toContain('would 2 unfinished runs go on with this code?')
  expect(stderr).toContain('upshot runs resume')
  const none = await check(bad, 'count')
  expect([none.exit, none.stdout]).toEqual([0, expect.stringContaining('No unfinished run has begun: any code fits.')])
})

test('code that does something outside steps, or cannot be loaded, does not pass', async () => {
  const { check } = await openWaiting()
  const acting = `async ({ step }) => { await fetch('http://127.0.0.1:9/'); await step.run('a', () => 1) }`
  const { json } = await check(acting, '--json')
  const place = 'fetch GET outside of every step at .*follow-up\\.workflow\\.js:2:.* is refused here'
  expect(json.data.groups).toMatchObject([{ key: expect.stringMatching(`→ fails: ${place}`) }])
  const broken = await check('nothing.at.all', '--json')
  expect(broken.exit).toBe(7)
  const missing = 'no module defines the workflow "follow-up"; follow-up'
  expect(broken.json.data).toMatchObject({
    broken: [{ file: 'follow-up.workflow.js' }],
    groups: [{ key: expect.stringContaining(`→ waits for a person: ${missing}`) }],
  })
})

test('the open waits are named whose event the code has changed', async () => {
  const { check } = await openWaiting(checkpoint('go', { position: 1, kind: 'wait', effect: 'read', ...OPEN }))
  const wait = (on: string) =>
    check(
      `async ({ step }) => { await step.run('a', () => 1); await step.waitFor('go', { on: '${on}', timeout: '1d' }) }`,
    )
  expect((await wait('file.moved')).exit).toBe(0)
  const { exit, stdout, stderr } = await wait('file.renamed')
  expect(exit).toBe(7)
  expect(stdout).toMatch(
    /2 {2}~ end .*→ keeps its wait: step "go" still waits for file.moved, and the code asks for file.renamed at/,
  )
  expect(stderr).toContain('give the step another name')
  expect(stderr).not.toContain('upshot runs resume')
})

test('schedules that the code would not take are named with the place', async () => {
  const { store, dataDir } = await openTestProject()
  const made = { owner: 'person', madeBy: 'ann', workflow: 'mirror', plan: planCron('0 3 * * *') } as const
  await store.addSchedule({ ...made, id: 'sch_1', name: 'good', input: '{"folder":"/a"}' }, 1)
  await store.addSchedule({ ...made, id: 'sch_2', name: 'bad', input: '{"folder":7}' }, 1)
  await store.addSchedule({ ...made, id: 'sch_3', name: 'lost', workflow: 'gone', input: '{}' }, 1)
  const folder = tempFolder()
  const code = `import { callable, defineWorkflow } from '${DOOR}'
import { z } from '${ZOD}'
export default defineWorkflow({ id: 'mirror', on: callable(z.object({ folder: z.string() })), run: () => null })`
  writeFileSync(join(folder, 'mirror.workflow.js'), code)
  const { exit, json } = await runHere(dataDir, ['backtest', '--unfinished', '--workflows', folder, '--json'])
  expect(json.data.schedules).toMatchObject([
    { schedule: 'bad', why: expect.stringContaining('input.folder') },
    { schedule: 'lost', why: expect.stringContaining('no module has the workflow "gone"') },
  ])
  expect(exit).toBe(7)
})

test('options that the runs do not take are refused, and so are two sources', async () => {
  const { check } = await openWaiting()
  const stderr = async (...args: string[]) => (await check('async () => {}', ...args)).stderr
  expect(await stderr('--accept', '--since', '1d')).toContain('--since, --accept cannot be given with --unfinished.')
  expect(await stderr('--shadow')).toContain('cannot be given with')
  expect(await stderr('--from', 'x.gz')).toContain('cannot be given with')
})

const OPEN = {
  status: 'waiting',
  target: 'file.moved',
  output: null,
  finishedAt: null,
  dueAt: Date.now() + 9e8,
} as const
