import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { runHere } from './support/run-here.ts'
import { openTestProject, test } from './support/test-project.ts'

test.each([
  { args: ['evnts'], exit: 2, error: { code: 'usage', fix: 'Did you mean events?' } },
  { args: ['runs', 'lst'], exit: 2, error: { code: 'usage', fix: 'Did you mean list?' } },
  { args: ['events', 'list', '--limt', '3'], exit: 2, error: { code: 'usage', fix: 'Did you mean --limit?' } },
  { args: ['runs', 'list', '--status', 'done'], exit: 2, error: { code: 'usage' } },
  { args: [], exit: 2, error: { code: 'usage' } },
  { args: ['runs', 'show', 'run_none'], exit: 5, error: { code: 'not_found' } },
  {
    args: ['trigger', 'order.placed'],
    exit: 5,
    error: { code: 'not_found', fix: expect.stringContaining('npm start') },
  },
  { args: ['files', 'ls', 'storage_a:/'], exit: 6, error: { code: 'not_running' } },
])('without an app, "$args" exits with $exit and says what to do', async ({ args, exit, error }) => {
  const { stdout, ...result } = await runHere(tempFolder(), [...args, '--json'])
  expect(result).toMatchObject({ exit, stderr: '', json: { ok: false, error } })
  expect(result.json.error.fix).toMatch(/\S/)
  expect(stdout.trim().split('\n')).toHaveLength(1)
})

test('--version prints only the version, on stdout', async () => {
  const stdout = expect.stringMatching(/^\d+\.\d+\.\d+\n$/)
  expect(await runHere(tempFolder(), ['--version'])).toMatchObject({ exit: 0, stdout, stderr: '' })
})

test('a group without a command prints its commands on stderr and exits with 2', async () => {
  const { exit, stdout, stderr } = await runHere(tempFolder(), ['endpoints'])
  expect([exit, stdout]).toEqual([2, ''])
  expect(stderr).toContain('create an endpoint')
})

test('stdout is for data only: an empty list and an error write to stderr', async () => {
  const { dataDir: folder, store } = await openTestProject()
  for (const endpoint of await store.listEndpoints()) await store.removeEndpoint(endpoint, 0)
  const [empty, quiet, failed] = await Promise.all([
    runHere(folder, ['endpoints', 'list']),
    runHere(folder, ['endpoints', 'list', '--quiet']),
    runHere(folder, ['runs', 'show', 'run_none']),
  ])
  expect(empty).toMatchObject({ exit: 0, stdout: '', stderr: expect.stringContaining('upshot endpoints add') })
  expect(quiet).toMatchObject({ exit: 0, stdout: '', stderr: '' })
  expect(failed).toMatchObject({ exit: 5, stdout: '', stderr: expect.stringMatching(/^error: .*\n {2}fix: .*\n$/) })
})

test.each([
  ['runs list'],
  ['events list'],
  ['runs summary'],
  ['endpoints list'],
  ['workflows list'],
  ['deliveries list'],
  ['audit list'],
  ['runs tail --for 1ms'],
  ['status'],
  ['doctor'],
  ['config show'],
  ['db verify'],
])('"upshot %s" creates nothing in a folder without a project', async (command) => {
  const folder = tempFolder()
  const dataDir = join(folder, 'data')
  const { exit, stdout } = await runHere(dataDir, [...command.split(' '), '--json'])
  expect(existsSync(dataDir)).toBe(false)
  if (/^(config|doctor)/.test(command)) return
  expect(exit).toBe(5)
  expect(JSON.parse(stdout).error.fix).toContain('npm start')
})

test('help of a command shows its own options, and names the command for the others', async () => {
  const own = await runHere(tempFolder(), ['runs', 'list', '--help'])
  expect(own.stdout).toContain('--waiting-for-me')
  expect(own.stdout).not.toContain('--ndjson')
  expect(own.stdout).toContain('upshot --help')
  expect((await runHere(tempFolder(), ['--help'])).stdout).toContain('--ndjson')
})

test('a command that listens to Ctrl-C leaves no listener behind', async ({ cli }) => {
  const before = process.listenerCount('SIGINT')
  for (let count = 0; count < 3; count++) expect(await cli('events', 'tail', '--for', '1ms')).toMatchObject({ exit: 0 })
  expect(process.listenerCount('SIGINT')).toBe(before)
})
