import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { CHILD_ENVIRONMENT } from '../../../support/child-environment.ts'
import { followLog } from '../../../support/process-log.ts'
import { CLI, DOOR } from '../../../support/program.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { WEBHOOK_SECRET } from '../../../support/test-config.ts'

// Starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

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
const hello = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'hello', on: '*', run: async ({ step }) => step.run('greet', () => 'hello') })`
const slow = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'slow', on: '*', run: async ({ step, log }) => {
  await step.run('hang', () => { log.info('hanging'); return new Promise(() => {}) })
} })`

/** Starts a command in a new project with one module. */
function start(args: string[], env: Record<string, string> = {}, module = hello) {
  const root = tempFolder()
  mkdirSync(join(root, 'workflows'))
  writeFileSync(join(root, 'workflows/hello.workflow.ts'), module)
  const child = spawn(process.execPath, [CLI, ...args], {
    ...{ cwd: root, env: { ...CHILD_ENVIRONMENT, ...FREE_PORTS, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, root, ...followLog(child) }
}

test('dev runs the sandbox and the workflows, and stops in order at the first Ctrl-C', async () => {
  const { child, line, lines, exited, errors } = start(['dev'])
  expect(await line(({ message }) => message === 'started')).toMatchObject({ urls: { sandbox: expect.any(String) } })
  await line(({ message, workflow }) => message === 'run completed' && workflow === 'hello')
  child.kill('SIGINT')
  expect(await exited).toEqual({ code: 0, signal: null })
  expect(lines.at(-1)).toMatchObject({ message: 'stopped' })
  expect(errors()).toBe('')
})

test('dev exits at once with 130 at the second Ctrl-C', async () => {
  const { child, line, exited } = start(['dev'], {}, slow)
  await line(({ message }) => message === 'hanging')
  child.kill('SIGINT')
  await line(({ message }) => message === 'stopping')
  child.kill('SIGINT')
  expect(await exited).toEqual({ code: 130, signal: null })
})

test('dev uses the real service of the environment only with --real', async () => {
  const careful = start(['dev'], REAL)
  expect(await careful.line(({ message }) => message === 'started')).toMatchObject({
    urls: { sandbox: expect.any(String) },
  })
  expect(careful.errors()).toContain('SERVICE_BASE_URL is set but not used')
  const real = start(['dev', '--real'], REAL)
  const { urls } = await real.line(({ message }) => message === 'started')
  expect(urls).not.toHaveProperty('sandbox')
})

test('start uses the real service, logs JSON, and drains on SIGTERM', async () => {
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
])('start exits with 2 if it is given %s', async (_, env, why) => {
  const { exited, errors } = start(['start'], env)
  expect(await exited).toMatchObject({ code: 2 })
  expect(errors()).toContain(why)
})

test('dev names the option whose value is invalid', async () => {
  const { exited, errors } = start(['dev', '--port', 'http'])
  expect(await exited).toMatchObject({ code: 2 })
  expect(errors()).toContain('--port is not valid')
})

test('variables of .env apply unless the environment sets them', async () => {
  const root = tempFolder()
  writeFileSync(join(root, '.env'), 'UPSHOT_LOG_LEVEL=error\nUPSHOT_HOST=0.0.0.0\n')
  const child = spawn(process.execPath, [CLI, 'config', 'show', '--origins', '--ndjson'], {
    ...{ cwd: root, env: { ...CHILD_ENVIRONMENT, UPSHOT_LOG_LEVEL: 'warn' }, stdio: ['ignore', 'pipe', 'pipe'] },
  })
  const { lines, exited } = followLog(child)
  await exited
  expect(lines).toContainEqual({ setting: 'UPSHOT_HOST', value: '0.0.0.0', origin: '.env', from: '.env' })
  expect(lines).toContainEqual({ setting: 'UPSHOT_LOG_LEVEL', value: 'warn', origin: 'environment', from: null })
})
