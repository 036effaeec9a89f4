import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { CLI, DOOR } from '../../../support/program.ts'
import { makeProject, startIn } from '../../../support/start-process.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { serviceEnv } from '../../support/service-env.ts'

// Starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const REAL = serviceEnv('https://api.invalid/v1', 'a-real-key')
const hello = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'hello', on: '*', run: async ({ step }) => step.run('greet', () => 'hello') })`
const slow = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'slow', on: '*', run: async ({ step, log }) => {
  await step.run('hang', () => { log.info('hanging'); return new Promise(() => {}) })
} })`

/** Starts a command in a new project with one module. */
const start = (args: string[], env: Record<string, string> = {}, module = hello) =>
  startIn(makeProject({ 'hello.workflow.ts': module }), env, args, CLI)

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

test('start exits with 2 if it is given no service', async () => {
  const { exited, errors } = start(['start'])
  expect(await exited).toMatchObject({ code: 2 })
  expect(errors()).toContain('starts no sandbox')
})

test('variables of .env apply unless the environment sets them', async () => {
  const root = tempFolder()
  writeFileSync(join(root, '.env'), 'UPSHOT_LOG_LEVEL=error\nUPSHOT_HOST=0.0.0.0\n')
  const { lines, exited } = startIn(
    root,
    { UPSHOT_LOG_LEVEL: 'warn' },
    ['config', 'show', '--origins', '--ndjson'],
    CLI,
  )
  await exited
  expect(lines).toContainEqual({ setting: 'UPSHOT_HOST', value: '0.0.0.0', origin: '.env', from: '.env' })
  expect(lines).toContainEqual({ setting: 'UPSHOT_LOG_LEVEL', value: 'warn', origin: 'environment', from: null })
})
