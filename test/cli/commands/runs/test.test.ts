import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { checkpoint, eventBody, incoming } from '../../../support/fixtures.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { runHere } from '../../support/run-here.ts'
import { openTestProject } from '../../support/test-project.ts'

const ROOT = join(import.meta.dirname, '../../../..')

const CODE = `import { defineWorkflow } from 'upshot'
export default defineWorkflow({
  id: 'follow-up',
  on: 'file.created',
  async run({ event, step }) {
    const seen = await step.run('look', () => ({ size: 0, token: '' }), { effect: 'read' })
    await step.sleep('grace', '1h')
    const options = { target: 'chat', input: { size: seen.size } }
    if (seen.size > 3) await step.run('tell', () => fetch('http://127.0.0.1:9'), options)
    return { size: seen.size, file: event.data.file }
  },
})`

/** A project folder with the workflow and a completed run of it. */
async function openRecorded(code = CODE, end: 'completed' | 'waiting' = 'completed') {
  const { store, dataDir } = await openTestProject()
  const folder = tempFolder()
  const workflows = join(folder, 'workflows')
  mkdirSync(join(folder, 'node_modules'))
  mkdirSync(workflows)
  symlinkSync(ROOT, join(folder, 'node_modules/upshot'))
  writeFileSync(join(workflows, 'follow-up.workflow.ts'), code)
  const now = Date.now()
  const body = eventBody('evt_1', 'file.created', { file: 'fil_1 Petronella', apiToken: 'canary-in-event' })
  await store.saveDelivery(incoming('evt_1', { body, receivedAt: now, workflows: ['follow-up'] }))
  const [claimed] = await store.claimRuns('wrk_1', 1, now)
  if (!claimed) throw new Error('a run was queued')
  const at = { startedAt: now, finishedAt: now }
  const steps = [
    checkpoint('look', { ...at, effect: 'read', output: '{"size":7,"token":"canary-in-step"}' }),
    checkpoint('grace', { ...at, position: 1, kind: 'sleep', effect: 'read', output: null, dueAt: now }),
    checkpoint('tell', {
      ...at,
      ...{ position: 2, target: 'chat', output: 'null' },
      ...(end === 'waiting' && { status: 'waiting', output: null, finishedAt: null }),
    }),
  ]
  for (const step of steps) await store.saveCheckpoint(claimed.lease, step)
  if (end === 'completed') await store.completeRun(claimed.lease, '{"size":7,"file":"fil_1"}', now)
  const id = claimed.lease.runId
  const write = (...args: string[]) =>
    runHere(dataDir, ['runs', 'test', id, ...args], { env: { UPSHOT_WORKFLOWS_DIR: workflows } })
  return { folder, workflows, id, write }
}

test('"runs test" writes a test from a run, which passes as it stands and holds no secret', async () => {
  const { folder, workflows, id, write } = await openRecorded()
  const { exit, json } = await write('--framework', 'node', '--json')
  expect(exit).toBe(0)
  const { file, answers } = json.data
  expect([file, answers]).toEqual(['test.ts', 'json'].map((end) => join(workflows, `follow-up.${id}.${end}`)))
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(`"class": "write"`)
  expect(text).toContain(`"target": "chat"`)
  expect(`${text}${readFileSync(answers, 'utf8')}`).not.toContain('canary')
  const run = () => promisify(execFile)(process.execPath, ['--test', file], { cwd: folder })
  expect((await run()).stdout).toMatch(/pass 1\b/)
  // An edit that changes an effect is seen by the test.
  writeFileSync(join(workflows, 'follow-up.workflow.ts'), CODE.replace('size > 3', 'size > 9'))
  await expect(run()).rejects.toThrow()
  expect((await write('--framework', 'node')).stderr).toContain('is there already')
})

test('with --redact no word of the event or of a result is in the test, which still passes', async () => {
  const code = CODE.replace('({ size: 0,', `({ person: 'nobody', size: 0,`).replace(
    `target: 'chat', input: {`,
    `target: 'chat', input: { file: event.data.file,`,
  )
  const { folder, write } = await openRecorded(code)
  const { json } = await write('--framework', 'node', '--redact', '--json')
  const { file, answers } = json.data
  const text = [file, answers].map((path) => readFileSync(path, 'utf8')).join('\n')
  expect(text).not.toMatch(/canary|Petronella/)
  expect(text).toMatch(/"file": "fil_1 [A-Z][a-z]{9}"/)
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', file], { cwd: folder })
  expect(stdout).toMatch(/pass 1\b/)
})

test('a run whose code decides by a replaced word makes no redacted test', async () => {
  const deciding = `if (event.data.file.charCodeAt(6) === 80 && seen.size > 3)`
  const { write } = await openRecorded(CODE.replace('if (seen.size > 3)', deciding))
  const { json } = await write('--redact', '--dry-run', '--json')
  expect(json.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('goes another way') })
})

test('a test for vitest compares the same, and a dry run only prints it', async () => {
  const { write } = await openRecorded()
  const { stdout } = await write('--framework', 'vitest', '--dry-run')
  expect(stdout).toContain(`import { expect, test } from 'vitest'`)
  expect(stdout).toContain('expect(played.end).toEqual({')
  const { json } = await write('--dry-run', '--json')
  expect([existsSync(json.data.file), json.data.dryRun]).toEqual([false, true])
})

test('a run whose code now asks for more than it was given makes no test', async () => {
  const { write } = await openRecorded(CODE.replace(`'look'`, `'other look'`))
  const { exit, json } = await write('--json')
  expect(exit).toBe(1)
  expect(json.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('"other look"') })
})

test('the test is written to another folder, and passes under vitest', async () => {
  const { folder, write } = await openRecorded()
  symlinkSync(join(ROOT, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
  const file = join(folder, 'test', 'one.test.ts')
  mkdirSync(join(folder, 'test'))
  const { json } = await write('--framework', 'vitest', '-o', file, '--json')
  expect(json.data).toMatchObject({ file, answers: join(folder, 'test', 'one.json') })
  const main = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const run = () => promisify(execFile)(process.execPath, [main, 'run', '--root', folder], { cwd: folder })
  expect((await run()).stdout).toMatch(/1 passed/)
  expect((await write('-o', join(folder, 'one.ts'))).exit).toBe(2)
})

test('code that asks for something else names the line to add, and goes on once it is there', async () => {
  const { folder, workflows, write } = await openRecorded()
  const { json } = await write('--framework', 'node', '--json')
  writeFileSync(join(workflows, 'follow-up.workflow.ts'), CODE.replace(`'look'`, `'other look'`))
  const run = () => promisify(execFile)(process.execPath, ['--test', json.data.file], { cwd: folder })
  await expect(run()).rejects.toMatchObject({ stdout: expect.stringContaining('"answers": { "other look": … }') })
  const recorded = JSON.parse(readFileSync(json.data.answers, 'utf8'))
  writeFileSync(json.data.answers, JSON.stringify({ ...recorded, answers: { 'other look': { size: 7, token: '' } } }))
  expect((await run()).stdout).toMatch(/pass 1\b/)
})

test('a run that waits, and one that failed, make tests of that end', async () => {
  const waiting = await openRecorded(CODE, 'waiting')
  const held = await waiting.write('--framework', 'node', '--json')
  expect(readFileSync(held.json.data.file, 'utf8')).toContain('"step": "tell"')
  const failed = await openRecorded(CODE.replace('return {', "throw new TypeError('no luck')\n    return {"))
  const { json } = await failed.write('--framework', 'node', '--json')
  expect(readFileSync(json.data.file, 'utf8')).toContain('"kind": "failed"')
  for (const [{ folder }, file] of [
    [waiting, held.json.data.file],
    [failed, json.data.file],
  ] as const) {
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', file], { cwd: folder })
    expect(stdout).toMatch(/pass 1\b/)
  }
})
