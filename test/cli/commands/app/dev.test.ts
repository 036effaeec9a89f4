import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import { devKeys } from '../../../../src/cli/commands/app/dev-keys.ts'
import { listenForHotKeys } from '../../../../src/cli/terminal/hot-keys.ts'
import { createOutput, readGlobalOptions } from '../../../../src/cli/terminal/output.ts'
import { followLog } from '../../../support/process-log.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { WEBHOOK_SECRET } from '../../../support/test-config.ts'

// Each starts processes, which take their time where the machine is busy.
vi.setConfig({ testTimeout: 120_000 })

const MAIN = resolve(import.meta.dirname, '../../../../src/cli/main.ts')
const INDEX = resolve(import.meta.dirname, '../../../../src/author/index.ts')
const FREE_PORTS = {
  ...{ UPSHOT_PORT: '0', UPSHOT_ADMIN_PORT: '0', UPSHOT_SANDBOX_PORT: '0', UPSHOT_SANDBOX_DOWNLOAD_PORT: '0' },
}
const REAL = {
  ...{
    SERVICE_BASE_URL: 'https://api.invalid/v1',
    SERVICE_API_KEY: 'a-real-key',
    SERVICE_WEBHOOK_SECRET: WEBHOOK_SECRET,
  },
  ...{ SERVICE_STORAGE_A: 'a', SERVICE_STORAGE_B: 'b', SERVICE_STORAGE_C: 'c' },
}
const hello = `import { defineWorkflow } from '${INDEX}'
export default defineWorkflow({ id: 'hello', on: '*', run: async ({ step }) => step.run('greet', () => 'hello') })`
const slow = `import { defineWorkflow } from '${INDEX}'
export default defineWorkflow({ id: 'slow', on: '*', run: async ({ step, log }) => {
  await step.run('hang', () => { log.info('hanging'); return new Promise(() => {}) })
} })`

/** A project of its own with one module, and the real command in it. */
function start(args: string[], env: Record<string, string> = {}, module = hello) {
  const root = tempFolder()
  mkdirSync(join(root, 'workflows'))
  writeFileSync(join(root, 'workflows/hello.workflow.ts'), module)
  const child = spawn(process.execPath, [MAIN, ...args], {
    ...{ cwd: root, env: { PATH: process.env.PATH, ...FREE_PORTS, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, root, ...followLog(child) }
}

test('dev runs the sandbox and the modules, and ends in order at the first Ctrl-C', async () => {
  const { child, line, lines, exited, errors } = start(['dev'])
  expect(await line(({ message }) => message === 'started')).toMatchObject({ urls: { sandbox: expect.any(String) } })
  await line(({ message, workflow }) => message === 'run completed' && workflow === 'hello')
  child.kill('SIGINT')
  expect(await exited).toEqual({ code: 0, signal: null })
  expect(lines.at(-1)).toMatchObject({ message: 'stopped' })
  expect(errors()).toBe('')
})

test('dev leaves at once at the second Ctrl-C, with 130', async () => {
  const { child, line, exited } = start(['dev'], {}, slow)
  await line(({ message }) => message === 'hanging')
  child.kill('SIGINT')
  await line(({ message }) => message === 'stopping')
  child.kill('SIGINT')
  expect(await exited).toEqual({ code: 130, signal: null })
})

test('dev does not touch the service that the environment names, unless it is told to', async () => {
  const careful = start(['dev'], REAL)
  expect(await careful.line(({ message }) => message === 'started')).toMatchObject({
    urls: { sandbox: expect.any(String) },
  })
  expect(careful.errors()).toContain('SERVICE_BASE_URL is set but not used')
  const real = start(['dev', '--real'], REAL)
  const { urls } = await real.line(({ message }) => message === 'started')
  expect(urls).not.toHaveProperty('sandbox')
})

test('start works with the real service, logs JSON, and drains on SIGTERM', async () => {
  const { child, line, lines, exited } = start(['start'], REAL)
  const started = await line(({ message }) => message === 'started')
  expect(started).toMatchObject({ level: 'info', urls: { receiver: expect.stringContaining('http://127.0.0.1:') } })
  child.kill('SIGTERM')
  expect(await exited).toEqual({ code: 0, signal: null })
  expect(lines.at(-1)).toMatchObject({ message: 'stopped' })
})

test.each([
  ['no service', {}, 'starts no sandbox'],
  [
    'a key of the sandbox',
    { ...REAL, SERVICE_BASE_URL: 'http://127.0.0.1:9/v1', SERVICE_API_KEY: 'sk_sandbox_x' },
    'key of the sandbox',
  ],
])('start refuses %s', async (_, env, why) => {
  const { exited, errors } = start(['start'], env)
  expect(await exited).toMatchObject({ code: 2 })
  expect(errors()).toContain(why)
})

test('start names the flag whose value is wrong', async () => {
  const { exited, errors } = start(['dev', '--port', 'http'])
  expect(await exited).toMatchObject({ code: 2 })
  expect(errors()).toContain('--port is not valid')
})

test('takes what is not set from .env, and lets the environment win', async () => {
  const root = tempFolder()
  writeFileSync(join(root, '.env'), 'UPSHOT_LOG_LEVEL=error\nUPSHOT_HOST=0.0.0.0\n')
  const child = spawn(process.execPath, [MAIN, 'config', 'show', '--origins', '--ndjson'], {
    ...{ cwd: root, env: { PATH: process.env.PATH, UPSHOT_LOG_LEVEL: 'warn' }, stdio: ['ignore', 'pipe', 'pipe'] },
  })
  const { lines, exited } = followLog(child)
  await exited
  expect(lines).toContainEqual({ setting: 'UPSHOT_HOST', value: '0.0.0.0', origin: '.env', from: '.env' })
  expect(lines).toContainEqual({ setting: 'UPSHOT_LOG_LEVEL', value: 'warn', origin: 'environment', from: null })
})

/** A terminal that somebody types into. */
function terminal() {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const raw: boolean[] = []
  Object.assign(streams.stdin, { isTTY: true, setRawMode: (isRaw: boolean) => raw.push(isRaw) })
  let seen = ''
  let told: (() => void) | null = null
  streams.stderr.on('data', (chunk) => {
    seen += chunk
    told?.()
  })
  const says = async (text: string) => {
    while (!seen.includes(text)) await new Promise<void>((resolve) => (told = resolve))
  }
  return { out: createOutput(readGlobalOptions([]), streams), keys: streams.stdin, raw, says, seen: () => seen }
}

const echo = defineWorkflow({ id: 'echo', on: '*', run: ({ event }) => event.id })

test('t sends a file through, r sends the last event once more, o prints the addresses', async () => {
  const { app, urls, hear, heard } = await startTestApp({ workflows: [echo] })
  const { out, keys, says } = terminal()
  onTestFinished(listenForHotKeys(out, devKeys({ app, urls }, out), { leave: () => {} }))
  keys.write('t')
  await says('started its transfer to storage_b:/archive/.')
  await hear('delivery.received', ({ type }) => type === 'transfer.completed')
  keys.write('r')
  await says(': accepted.')
  const runs = heard.filter(({ kind }) => kind === 'delivery.received').length
  expect(runs).toBeGreaterThanOrEqual(4)
  keys.write('o')
  await says(`${urls.sandbox}/account`)
  await says(urls.endpoints.sandbox ?? '')
})

test('f makes the service worse step by step, and well again', async () => {
  const { app, urls, sandbox } = await startTestApp()
  const { out, keys, says } = terminal()
  onTestFinished(listenForHotKeys(out, devKeys({ app, urls }, out), { leave: () => {} }))
  for (const state of ['slow', 'unreliable', 'down', 'a bad sender']) {
    keys.write('f')
    await says(`The service is now ${state}`)
    expect(sandbox.faults.list().length).toBeGreaterThan(0)
  }
  keys.write('f')
  await says('The service is now healthy.')
  expect(sandbox.faults.list()).toEqual([])
})

test('q, Ctrl-C and Ctrl-D leave, a failing key does not, and the terminal is given back', async () => {
  const { out, keys, raw, says, seen } = terminal()
  const left: string[] = []
  const fail = { help: 'fail', press: () => Promise.reject(new Error('the line was busy')) }
  const stop = listenForHotKeys(out, { x: fail }, { leave: (reason) => left.push(reason) })
  keys.write('x')
  await says('The key failed: the line was busy')
  keys.write('?')
  await says('  x  fail')
  keys.write('q\u0003\u0004')
  await vi.waitFor(() => expect(left).toEqual(['key q', 'Ctrl-C', 'Ctrl-C']))
  stop()
  expect(raw).toEqual([true, false])
  keys.write('?')
  expect(seen().split('Keys:')).toHaveLength(2)
})

test('a key that is still at work is not pressed twice', async () => {
  const { out, keys } = terminal()
  const presses: string[] = []
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const slowly = (key: string) => ({
    help: 'wait',
    press() {
      presses.push(key)
      return promise
    },
  })
  const stop = listenForHotKeys(out, { t: slowly('t'), u: slowly('u') }, { leave: () => {} })
  keys.write('tttu')
  await vi.waitFor(() => expect(presses).toContain('u'))
  expect(presses).toEqual(['t', 'u'])
  release()
  stop()
})
