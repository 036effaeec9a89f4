import { expect, test } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { runHere } from './support/run-here.ts'

test.each([
  { args: ['evnts'], exit: 2, error: { code: 'usage', fix: 'Did you mean events?' } },
  { args: ['runs', 'lst'], exit: 2, error: { code: 'usage', fix: 'Did you mean list?' } },
  { args: ['events', 'list', '--limt', '3'], exit: 2, error: { code: 'usage', fix: 'Did you mean --limit?' } },
  { args: ['runs', 'list', '--status', 'done'], exit: 2, error: { code: 'usage' } },
  { args: [], exit: 2, error: { code: 'usage' } },
  { args: ['runs', 'show', 'run_none'], exit: 5, error: { code: 'not_found' } },
  {
    args: ['trigger', 'order.placed'],
    exit: 6,
    error: { code: 'not_running', fix: expect.stringContaining('npm start') },
  },
  { args: ['files', 'ls', 'storage_a:/'], exit: 6, error: { code: 'not_running' } },
])('without an app, "$args" exits with $exit and says what to do', async ({ args, exit, error }) => {
  const { stdout, ...result } = await runHere(tempFolder(), [...args, '--json'])
  expect(result).toMatchObject({ exit, stderr: '', json: { ok: false, error } })
  expect(result.json.error.fix).toMatch(/\S/)
  expect(stdout.trim().split('\n')).toHaveLength(1)
})

test('stdout is for data only: an empty list and an error write to stderr', async () => {
  const folder = tempFolder()
  const [empty, quiet, failed] = await Promise.all([
    runHere(folder, ['endpoints', 'list']),
    runHere(folder, ['endpoints', 'list', '--quiet']),
    runHere(folder, ['runs', 'show', 'run_none']),
  ])
  expect(empty).toMatchObject({ exit: 0, stdout: '', stderr: expect.stringContaining('upshot endpoints add') })
  expect(quiet).toMatchObject({ exit: 0, stdout: '', stderr: '' })
  expect(failed).toMatchObject({ exit: 5, stdout: '', stderr: expect.stringMatching(/^error: .*\n {2}fix: .*\n$/) })
})
