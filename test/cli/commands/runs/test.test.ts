import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { runTest } from '../../../../src/cli/commands/runs/test.ts'
import { checkpoint, eventBody, incoming } from '../../../support/fixtures.ts'
import { UPSHOT } from '../../../support/program.ts'
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

/** Without the proof that makes it usable. */
const CALLBACK = `https://upshot.example.com/callbacks/${'0'.repeat(26)}`

/** A project folder with the workflow and a completed run of it. */
async function openRecorded(code = CODE, end: 'completed' | 'waiting' = 'completed', codeHash?: string) {
  const { store, dataDir } = await openTestProject()
  const folder = tempFolder()
  const workflows = join(folder, 'workflows')
  mkdirSync(join(folder, 'node_modules'))
  mkdirSync(workflows)
  symlinkSync(UPSHOT, join(folder, 'node_modules/upshot'))
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
      position: 2,
      target: `chat ${CALLBACK}${'1'.repeat(32)}`,
      output: 'null',
      ...(end === 'waiting' && { status: 'waiting', output: null, finishedAt: null }),
    }),
  ]
  const made = codeHash === undefined ? {} : { codeHash }
  for (const step of steps) await store.saveCheckpoint(claimed.lease, step, undefined, made)
  if (end === 'completed') await store.completeRun(claimed.lease, '{"size":7,"file":"fil_1"}', now)
  const id = claimed.lease.runId
  const env = { UPSHOT_WORKFLOWS_DIR: workflows, CHAT_TOKEN: 'canary-in-environment' }
  const write = (...args: string[]) => runHere(dataDir, ['runs', 'test', id, ...args], { env })
  return { folder, workflows, id, write, store, lease: claimed.lease }
}

test('"runs test" writes a test from a run, which passes as it stands and holds no secret', async () => {
  const { folder, workflows, id, write } = await openRecorded()
  const { exit, json } = await write('--framework', 'node', '--json')
  expect([exit, json.data.passed]).toEqual([0, true])
  const { file, answers } = json.data
  expect([file, answers]).toEqual(['test.ts', 'json'].map((end) => join(workflows, `follow-up.${id}.${end}`)))
  const text = readFileSync(answers, 'utf8')
  expect(text).toContain(`"class": "write"`)
  expect(text).toContain(`"target": "chat"`)
  expect(text).toContain(`"target": "chat ${CALLBACK}…"`)
  expect(`${text}${readFileSync(file, 'utf8')}`).not.toContain('canary')
  const run = () => promisify(execFile)(process.execPath, ['--test', file], { cwd: folder })
  expect((await run()).stdout).toMatch(/pass 1\b/)
  // An edit that changes an effect is seen by the test.
  writeFileSync(join(workflows, 'follow-up.workflow.ts'), CODE.replace('size > 3', 'size > 9'))
  await expect(run()).rejects.toMatchObject({ stdout: expect.stringContaining(`'- write tell chat'`) })
  expect((await write('--framework', 'node')).stderr).toContain('is there already')
})

test('with --redact no word of the event or of a result is in the test, which still passes', async () => {
  const code = CODE.replace('({ size: 0,', `({ person: 'nobody', size: 0,`).replace(
    `target: 'chat', input: {`,
    `target: 'chat', input: { file: event.data.file,`,
  )
  const { folder, write } = await openRecorded(code)
  const { json } = await write('--framework', 'node', '--redact', '--no-run', '--json')
  const { file, answers } = json.data
  const text = [file, answers].map((path) => readFileSync(path, 'utf8')).join('\n')
  expect(text).not.toMatch(/canary|Petronella/)
  expect(text).toMatch(/file\W+fil_1 [A-Z][a-z]{9}\W/)
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', file], { cwd: folder })
  expect(stdout).toMatch(/pass 1\b/)
})

test('a run whose code decides by a replaced word makes no redacted test, unless the word is kept', async () => {
  const deciding = `if (event.data.file.charCodeAt(6) === 80 && seen.size > 3)`
  const { write } = await openRecorded(CODE.replace('if (seen.size > 3)', deciding))
  const { json } = await write('--redact', '--dry-run', '--json')
  expect(json.error).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('takes another path: step "tell" is left out'),
    fix: expect.stringContaining('--keep'),
  })
  expect((await write('--redact', '--keep', 'Petronella', '--dry-run')).exit).toBe(0)
})

test('a test for vitest compares the same, and a dry run only prints it', async () => {
  const { write } = await openRecorded()
  const { stdout } = await write('--framework', 'vitest', '--dry-run')
  expect(stdout).toContain(`import { expect, test } from 'vitest'`)
  expect(stdout).toContain('expect(does).toEqual(did)')
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
  const { json } = await write('--framework', 'vitest', '-o', file, '--no-run', '--json')
  expect(json.data).toMatchObject({ file, answers: join(folder, 'test', 'one.json') })
  const main = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const run = () => promisify(execFile)(process.execPath, [main, 'run', '--root', folder], { cwd: folder })
  expect((await run()).stdout).toMatch(/1 passed/)
  expect((await write('-o', join(folder, 'one.ts'))).exit).toBe(2)
})

test('code that asks for something else names the line to add, and goes on once it is there', async () => {
  const { folder, workflows, write } = await openRecorded()
  const { json } = await write('--framework', 'node', '--no-run', '--json')
  writeFileSync(join(workflows, 'follow-up.workflow.ts'), CODE.replace(`'look'`, `'other look'`))
  const run = () => promisify(execFile)(process.execPath, ['--test', json.data.file], { cwd: folder })
  await expect(run()).rejects.toMatchObject({ stdout: expect.stringContaining('"answers": { "other look": … }') })
  const recorded = JSON.parse(readFileSync(json.data.answers, 'utf8'))
  writeFileSync(json.data.answers, JSON.stringify({ ...recorded, answers: { 'other look': { size: 7, token: '' } } }))
  expect((await run()).stdout).toMatch(/pass 1\b/)
})

test('the test sees order and routing as a backtest does, and takes no order where nothing waits', async () => {
  const [tell, send] = [`step.run('tell', () => {}, { target: 'chat' })`, `step.send('after', 'told', {})`]
  const inTurn = (...calls: string[]) => calls.map((call) => `await ${call}`).join('\n    ')
  const atOnce = (...calls: string[]) => `await Promise.all([${calls.join(', ')}])`
  const codeOf = (effects: string, on = 'file.created') =>
    CODE.replace(/ {4}const options[\s\S]*options\)/, `    ${effects}`).replace('file.created', on)
  const trial = async (before: string, after: string): Promise<string> => {
    const { folder, workflows, write } = await openRecorded(before)
    const { json } = await write('--framework', 'node', '--no-run', '--json')
    writeFileSync(join(workflows, 'follow-up.workflow.ts'), after)
    const run = promisify(execFile)(process.execPath, ['--test', json.data.file], { cwd: folder })
    return run.then(
      () => 'passes',
      ({ stdout }) => stdout,
    )
  }
  expect(await trial(codeOf(inTurn(tell, send)), codeOf(inTurn(send, tell)))).toContain(
    '~ order after told after tell chat → before it',
  )
  expect(await trial(codeOf(inTurn(tell, send)), codeOf(inTurn(tell, send), 'file.deleted'))).toMatch(
    /- start file.created .*it runs on file.deleted/,
  )
  expect(await trial(codeOf(atOnce(tell, send)), codeOf(atOnce(send, tell)))).toBe('passes')
})

test('a run that waits, and one that failed, make tests of that end', async () => {
  const waiting = await openRecorded(CODE, 'waiting')
  const held = await waiting.write('--framework', 'node', '--no-run', '--json')
  expect(readFileSync(held.json.data.answers, 'utf8')).toContain('"text": "step \\"tell\\":')
  const failed = await openRecorded(CODE.replace('return {', "throw new TypeError('no luck')\n    return {"))
  const { json } = await failed.write('--framework', 'node', '--no-run', '--json')
  expect(readFileSync(json.data.answers, 'utf8')).toContain('"kind": "failed"')
  for (const [{ folder }, file] of [
    [waiting, held.json.data.file],
    [failed, json.data.file],
  ] as const) {
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', file], { cwd: folder })
    expect(stdout).toMatch(/pass 1\b/)
  }
})

test('a test that fails when it is run is kept and shown, and --no-run does not run it', async () => {
  const code = CODE.replace('input: { size: seen.size }', 'input: { at: process.hrtime.bigint().toString() }')
  const { write } = await openRecorded(code)
  const { exit, stdout, stderr } = await write('--framework', 'node')
  expect(exit).toBe(1)
  expect(stderr).toMatch(/The test fails\.[\s\S]*\+ +at: '\d+'[\s\S]*now\(\)/)
  for (const path of stdout.trim().split('\n')) rmSync(path)
  const left = await write('--framework', 'node', '--no-run', '--json')
  expect([left.exit, left.json.data.passed, existsSync(left.json.data.file)]).toEqual([0, null, true])
})

test('a project without Vitest gets its test, which is not run', async () => {
  expect(await runTest({ root: tempFolder() }, 'one.test.ts', 'vitest')).toEqual({ kind: 'skipped' })
})

test('a test has no variable of an alert channel', async () => {
  vi.stubEnv('PAGER_URL', 'https://pager.example.com/secret')
  const root = tempFolder()
  const file = join(root, 'one.test.mjs')
  writeFileSync(
    file,
    "import { test } from 'node:test'\ntest('a', () => { if (process.env.PAGER_URL) throw 'it has' })",
  )
  expect(await runTest({ root }, file, 'node')).toMatchObject({ kind: 'failed' })
  expect(await runTest({ root, secretVariables: ['PAGER_URL'] }, file, 'node')).toEqual({ kind: 'passed' })
})

test('a secret variable and the folder of the project are in no test, and the test needs neither', async () => {
  const input = "input: { authorization: process.env.CHAT_TOKEN ?? null, hook: 'x?key=' + process.env.CHAT_TOKEN }"
  const code = CODE.replace('input: { size: seen.size }', input).replace(
    'return { size: seen.size,',
    "return { size: seen.size, folder: process.cwd() + '/data/records',",
  )
  const { write } = await openRecorded(code)
  const { json } = await write('--framework', 'node', '--no-run', '--json')
  const text = [json.data.file, json.data.answers].map((path) => readFileSync(path, 'utf8')).join('\n')
  expect(text).not.toContain('canary')
  expect(text).toContain('{\\"authorization\\":\\"redacted\\",\\"hook\\":\\"x?key=redacted\\"}')
  expect(text).toContain('\\"folder\\":\\"data/records\\"')
})

test('a download outside of the project has no place of this machine, nor has a failure', async () => {
  const code = CODE.replace(
    'await step.sleep',
    "const got = await files.download({ service: 'storage_a', id: 'fil_1' }, { to: '/tmp/x' })\n    await step.sleep",
  ).replace('async run({ event,', 'async run({ event, files,')
  const { write, store, lease } = await openRecorded(
    code.replace('file: event', 'got: got.path, file: event'),
    'waiting',
  )
  const output = JSON.stringify({
    path: '/srv/secret-place/a.csv',
    bytes: 1,
    sha256: 'aa',
    resumedFrom: 0,
    proof: 'size',
  })
  const [startedAt, finishedAt] = [Date.now(), Date.now()]
  const about = { effect: 'read', startedAt, finishedAt, target: 'storage_a:fil_1' } as const
  await store.saveCheckpoint(lease, checkpoint('files.download[storage_a:fil_1]', { ...about, position: 3, output }))
  const error = { name: 'Error', message: 'no luck', at: ['run (file:///srv/secret-place/a.ts:1:1)'] }
  await store.saveCheckpoint(
    lease,
    checkpoint('tell', { position: 2, target: 'chat', status: 'failed', error, output: null, startedAt, finishedAt }),
  )
  await store.failRun(lease, { ...error, step: 'tell' }, Date.now())
  const { json } = await write('--framework', 'node', '--no-run', '--json')
  const text = [json.data.file, json.data.answers].map((path) => readFileSync(path, 'utf8')).join('\n')
  expect(text).toContain('downloads/a.csv')
  expect(text).not.toContain('secret-place')
})

test('the test names the code that it was written with, and that of the run where it is other code', async () => {
  const { write } = await openRecorded()
  const { stdout } = await write('--dry-run')
  const [, hash = ''] = /with code ([0-9a-f]{16})\.$/m.exec(stdout) ?? []
  expect(hash).not.toBe('')
  const changed = await openRecorded(CODE, 'completed', hash)
  writeFileSync(join(changed.workflows, 'follow-up.workflow.ts'), CODE.replace('> 3', '> 4'))
  const { stdout: written, stderr } = await changed.write('--no-run')
  expect(readFileSync(written.split('\n')[0] ?? '', 'utf8')).toMatch(
    new RegExp(`; the run was made by code ${hash}\\.$`, 'm'),
  )
  expect(stderr).toContain('upshot backtest follow-up')
})

test('a run whose event has lost its body makes no test, and says why', async () => {
  const { write, store } = await openRecorded()
  await store.prune({ kind: 'payloads', before: Date.now() + 1, now: Date.now() + 1, limit: 10, after: null })
  const { exit, json } = await write('--json')
  expect([exit, json.error.message]).toEqual([1, expect.stringContaining('evt_1, on which')])
})
