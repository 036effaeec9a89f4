import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeRuntimeFile } from '../../../../src/project/data-dir/runtime-file.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'

test('status prints the addresses of a running app, and not the key of its sandbox', async () => {
  const { dataDir, urls } = await startTestApp()
  const status = await runHere(dataDir, ['status', '--json'])
  expect(status.json.data).toMatchObject({ running: true, ready: true, receiver: urls.receiver, pid: process.pid })
  expect(status.stdout).not.toContain('sk_sandbox_')
})

test('status fails where no app runs, and does not trust the runtime file of an app that crashed', async () => {
  const dataDir = tempFolder()
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const gone = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  server.close()
  writeRuntimeFile(dataDir, { pid: 1, startedAt: '2026-06-01T12:00:00Z', receiver: gone, admin: gone, sandbox: null })
  const refused = { exit: 6, json: { ok: false, error: { code: 'not_running' } } }
  expect(await runHere(dataDir, ['status', '--json'])).toMatchObject(refused)
  writeFileSync(join(dataDir, 'runtime.json'), '{ "pid": ')
  expect(await runHere(dataDir, ['status', '--json'])).toMatchObject(refused)
})
