import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { listen } from '../../../support/listen.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'

test('sandbox commands send nothing but a health check to a server that is not a sandbox', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.end('{"data":{"status":"fine"}}')
  })
  const url = await listen(server)
  const stranger = await runHere(tempFolder(), ['sandbox', 'reset', '--yes', '--url', url, '--json'])
  expect(stranger).toMatchObject({ exit: 2, json: { error: { code: 'invalid_request' } } })
  expect(asked).toEqual(['GET /_sandbox/health'])
  const nobody = await runHere(tempFolder(), ['sandbox', 'status', '--url', 'http://127.0.0.1:9', '--json'])
  expect(nobody).toMatchObject({ exit: 6, json: { error: { code: 'not_running' } } })
  expect((await runHere(tempFolder(), ['sandbox', 'status', '--url', 'nonsense', '--json'])).exit).toBe(2)
})

test('a change of the sandbox of an app is in the audit log before it is asked for', async () => {
  const { dataDir } = await startTestApp()
  expect(await runHere(dataDir, ['sandbox', 'settings', 'plan=gold', '--json'])).toMatchObject({ exit: 2 })
  const { json } = await runHere(dataDir, ['audit', 'list', '--limit', '1', '--json'])
  expect(json).toMatchObject({ data: [{ action: 'sandbox.change', target: '/settings', outcome: 'begun' }] })
})
