import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test, vi } from 'vitest'
import { CHILD_ENVIRONMENT } from '../../../support/child-environment.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { runCli } from '../../support/run-cli.ts'
import { runHere } from '../../support/run-here.ts'

// Starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const MAIN = resolve(import.meta.dirname, '../../../../src/cli/main.js')

/** `upshot sandbox start` in a process of its own; `facts` is what it printed first. */
async function startAlone(dataDir: string, args: readonly string[] = []) {
  const child = spawn(process.execPath, [MAIN, 'sandbox', 'start', '--port', '0', '--download-port', '0', ...args], {
    env: { ...CHILD_ENVIRONMENT, UPSHOT_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const first = await lines.next()
  return { child, exited, lines, facts: JSON.parse(first.value ?? '{}').data, errors: () => errors }
}

test('sandbox start runs until Ctrl-C, is found by other commands, and keeps its data', async () => {
  const dataDir = tempFolder()
  const first = await startAlone(dataDir, ['--json', '--plan', 'pro', '--seed', '7'])
  expect(first.facts).toMatchObject({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    plan: 'pro',
    form: 'primary',
    clock: 'real',
    key: expect.stringMatching(/^sk_sandbox_\w{32}$/),
  })
  const list = await fetch(`${first.facts.url}/files?service=storage_a`, {
    headers: { authorization: `Bearer ${first.facts.key}` },
  })
  expect(list.status).toBe(200)
  const status = await runHere(dataDir, ['sandbox', 'status', '--json'])
  expect(status.json.data).toMatchObject({ url: first.facts.url, keys: 1, settings: { plan: 'pro' } })
  const put = await runCli(dataDir, ['sandbox', 'storage', 'put', '-', 'storage_a:/in/kept.txt'], { input: 'kept' })
  expect(put).toMatchObject({ exit: 0, stdout: expect.stringContaining('storage_a:/in/kept.txt') })

  first.child.kill('SIGINT')
  expect(await first.exited).toEqual([0, null])
  expect((await first.lines.next()).done).toBe(true)
  expect(first.errors()).not.toContain(first.facts.key)
  expect(existsSync(join(dataDir, 'sandbox', 'sandbox.json'))).toBe(false)
  const gone = await runHere(dataDir, ['sandbox', 'status', '--json'])
  expect(gone).toMatchObject({ exit: 6, json: { error: { code: 'not_running' } } })

  const second = await startAlone(dataDir, ['--json'])
  expect(second.facts.plan).toBe('pro')
  const kept = await runHere(dataDir, ['sandbox', 'storage', 'ls', 'storage_a:/in', '--json'])
  expect(kept.json.data).toMatchObject([{ path: '/in/kept.txt', size: 4 }])
  second.child.kill('SIGTERM')
  expect(await second.exited).toEqual([0, null])
})

test('sandbox start refuses a second sandbox on the same folder', async () => {
  const dir = tempFolder()
  const { facts, child, exited } = await startAlone(tempFolder(), ['--json', '--dir', dir, '--clock', 'manual'])
  expect(facts).toMatchObject({ dir, storages: join(dir, 'storages'), clock: 'manual' })
  const other = await runCli(tempFolder(), ['sandbox', 'start', '--dir', dir, '--port', '0', '--json'])
  expect(other).toMatchObject({ exit: 1, json: { error: { code: 'conflict' } } })
  const found = await runHere(tempFolder(), ['sandbox', 'clock', 'show', '--dir', dir, '--json'])
  expect(found.json.data).toMatchObject({ mode: 'manual' })
  child.kill('SIGINT')
  await exited
})
