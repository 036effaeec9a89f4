import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { findInProject } from '../../../../src/cli/commands/safety/privacy.ts'
import { CHILD_ENVIRONMENT } from '../../../support/child-environment.ts'
import { incoming } from '../../../support/fixtures.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { define } from '../../../support/workflows.ts'
import { runHere } from '../../support/run-here.ts'
import { openTestProject } from '../../support/test-project.ts'

const ROOT = resolve(import.meta.dirname, '../../../..')

const greet = define('greet', { on: 'person.joined' }, async ({ event, step, log }) => {
  log.info('joined', { data: event.data })
  return step.run(['greet', JSON.stringify(event.data)], () => ({ greeted: event.data }))
})
const wait = define('wait', { on: 'person.waits' }, ({ step }) => step.sleep('nap', '9d'))

test('what a person asks for is found, counted, and gone from the file on the disk', async () => {
  const { dataDir, app, hear } = await startTestApp({ workflows: [greet, wait] })
  const cli = (...args: string[]) => runHere(dataDir, [...args, '--json'])
  await cli('trigger', 'person.joined', '--set', 'data.name=Zacharias Quint')
  const { run } = await hear('run.completed', ({ workflow }) => workflow === 'greet')
  await expect.poll(() => app.store.listRunLog(run)).toHaveLength(1)

  const words = ['--text', 'zacharias quint']
  const found = (await cli('privacy', 'find', ...words)).json.data
  expect(found).toMatchObject({ rows: expect.any(Number), neededBy: [] })
  expect(found.places).toContainEqual({ table: 'event', column: 'body', rows: 1 })
  const dry = await cli('privacy', 'erase', ...words, '--dry-run')
  expect(dry.json.data).toMatchObject({ rows: found.rows, erased: 0, dryRun: true })
  // A person has to say yes; a script says so with the number of rows.
  expect(await cli('privacy', 'erase', ...words)).toMatchObject({ json: { error: { code: 'needs_confirmation' } } })
  const kept = await cli('privacy', 'erase', ...words, '--yes', '--reason', 'of Zacharias Quint')
  expect(kept.json.error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('The reason has') })

  const erased = await cli('privacy', 'erase', ...words, '--yes', '--reason', 'ticket 7')
  expect(erased).toMatchObject({ exit: 0, json: { data: { erased: found.rows, canceled: [] } } })
  expect((await cli('privacy', 'erase', ...words, '--yes')).json.data.rows).toBe(0)
  expect((await cli('effects', 'verify')).json.data).toMatchObject({ passed: true })
  const [row] = await app.store.listActions({ action: 'privacy.erase', limit: 1 })
  expect(row).toMatchObject({ reason: 'ticket 7', parameters: { kind: 'text', rows: expect.any(Number) } })
  await app.stop()
  expect(readFileSync(join(dataDir, 'upshot.db'), 'latin1')).not.toMatch(/Zacharias Quint/i)
})

test('a run that needs the text keeps it, until a person cancels it', async () => {
  const { dataDir, hear } = await startTestApp({ workflows: [wait] })
  const cli = (...args: string[]) => runHere(dataDir, [...args, '--json'])
  await cli('trigger', 'person.waits', '--set', 'data.path=/in/quint/a b.pdf')
  const { run } = await hear('run.parked')
  const refused = await cli('privacy', 'erase', '--path', '/in/quint', '--yes')
  expect(refused.json.error).toMatchObject({
    code: 'conflict',
    message: `Nothing was erased: it is needed by ${run}, which would break.`,
    fix: expect.stringContaining('--cancel-runs'),
  })
  const { data } = (await cli('privacy', 'erase', '--path', '/in/quint', '--yes', '--cancel-runs')).json
  expect(data).toMatchObject({ canceled: [run], erased: expect.any(Number) })
  expect((await cli('privacy', 'erase', '--path', '/in/quint/a b.pdf', '--dry-run')).json.data.rows).toBe(0)
})

test('an erasure that is killed in its midst is finished by the same command, and the chain still holds', async () => {
  const { dataDir, store, cli } = await openTestProject()
  const events = Array.from({ length: 2_000 }, (_, n) =>
    incoming(`evt_${n}`, { workflows: [], data: { name: 'Quint' } }),
  )
  await Promise.all(events.map((event) => store.saveDelivery(event)))
  const erase = ['privacy', 'erase', '--text', 'quint', '--yes', '--reason', 'ticket 7']
  const child = spawn(process.execPath, [join(ROOT, 'src/cli/main.js'), ...erase], {
    env: { ...CHILD_ENVIRONMENT, UPSHOT_DATA_DIR: dataDir, UPSHOT_PORT: '0' },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const erased = async () => (await store.listActions({ action: 'privacy.erase', limit: 100 })).length
  // The first row tells that it began, the second of its first commit.
  while ((await erased()) < 2) await setImmediate()
  child.kill('SIGKILL')
  await exited
  const { rows } = (await cli('privacy', 'find', '--text', 'quint')).json.data
  expect(rows).toBeGreaterThan(0)
  expect(rows).toBeLessThan(2_000)
  expect((await cli(...erase)).json.data).toMatchObject({ erased: rows })
  expect((await cli('privacy', 'find', '--text', 'quint')).json.data.rows).toBe(0)
  expect((await cli('effects', 'verify')).json.data).toMatchObject({ passed: true })
})

test('words that are missing, double or too short are refused', async () => {
  const { dataDir } = await startTestApp({ workflows: [] })
  const cli = (...args: string[]) => runHere(dataDir, ['privacy', 'find', ...args, '--json'])
  expect((await cli()).json.error.message).toBe('Give either --text or --path.')
  expect((await cli('--text', 'anna', '--path', '/a')).json.error.message).toBe('Give either --text or --path.')
  expect((await cli('--text', 'ab')).json.error).toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/^The request does not fit this operation\. text: .*3 characters\.$/),
  })
})

test('files of the project with the words are named, but for those of others and the database', () => {
  const root = tempFolder()
  for (const folder of ['runs', 'node_modules']) mkdirSync(join(root, folder))
  for (const file of ['runs/a.jsonl', 'node_modules/b.js', 'upshot.db', 'upshot.db-open', 'c.txt']) {
    writeFileSync(join(root, file), '{"name":"Zacharias Quint"}')
  }
  writeFileSync(join(root, 'quint.csv'), '')
  expect(findInProject(root, { kind: 'text', text: 'quint' }).sort()).toEqual(['c.txt', 'quint.csv', 'runs/a.jsonl'])
})
