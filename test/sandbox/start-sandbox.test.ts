import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import * as library from '../../src/sandbox/index.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { nameOf } from '../../src/sandbox/start-sandbox.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openReceiver } from './support/open-receiver.ts'
import { openSandbox } from './support/open-sandbox.ts'

const DOOR = resolve(import.meta.dirname, '../../src/sandbox/index.ts')

test('a sandbox listens on the host that it was given, and its URLs name it', async () => {
  await using sandbox = await startSandbox({ dir: tempFolder(), host: 'localhost' })
  expect([sandbox.url, sandbox.downloadOrigin]).toEqual([
    expect.stringMatching(/^http:\/\/localhost:\d+\/v1$/),
    expect.stringMatching(/^http:\/\/localhost:\d+$/),
  ])
  const reply = await fetch(`${sandbox.origin}/account`)
  expect(reply.status).toBe(200)
  expect(['0.0.0.0', '::'].map(nameOf)).toEqual(['127.0.0.1', '127.0.0.1'])
})

test('a start fails on a directory or a port that is in use', async () => {
  const dir = tempFolder()
  const first = await openSandbox({ dir })
  await expect(startSandbox({ dir })).rejects.toThrow(/Another sandbox is running/)
  const port = Number(new URL(first.origin).port)
  await expect(startSandbox({ dir: tempFolder(), port })).rejects.toThrow(/is taken or not allowed/)
})

test('a sandbox killed during a transfer and a delivery loses nothing', async () => {
  const dir = tempFolder()
  const receiver = await openReceiver()
  receiver.isSilent = true
  const child = spawn(
    process.execPath,
    [new URL('./support/doomed-sandbox.ts', import.meta.url).pathname, dir, receiver.url],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await once(child.stdout, 'data')
  await expect.poll(() => receiver.received.length, { interval: 2 }).toBe(1)
  child.kill('SIGKILL')
  await once(child, 'exit')

  receiver.isSilent = false
  const sandbox = await openSandbox({ dir })
  const [transfer] = sandbox.transfers.list()
  expect(transfer).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
  expect(sandbox.storage('storage_b').list()).toEqual([])
  const created = await sandbox.deliveries.until({ type: 'file.created', state: 'delivered' })
  expect(created).toHaveLength(1)
  await sandbox.deliveries.until({ type: 'transfer.failed', state: 'delivered' })
})

test('the door exports one function, and every type has a doc comment', () => {
  expect(Object.keys(library)).toEqual(['startSandbox'])
  const lines = [...readFileSync(DOOR, 'utf8').matchAll(/export (?:type )?\{ ([^}]+) \} from '([^']+)'/gs)]
  const undocumented = lines.flatMap(([, names = '', file = '']) => {
    const text = readFileSync(join(dirname(DOOR), file), 'utf8')
    const wanted = names.split(',').map((name) => name.trim().replace(/^type /, ''))
    const isDocumented = (name: string) =>
      new RegExp(`\\*/\\nexport (async )?(interface|type|class|function) ${name}\\b`).test(text)
    return wanted.filter((name) => name !== '' && !isDocumented(name)).map((name) => `${file} ${name}`)
  })
  expect(lines.length).toBeGreaterThan(10)
  expect(undocumented).toEqual([])
})
