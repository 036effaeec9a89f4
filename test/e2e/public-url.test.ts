import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { loadConfigFile } from '../../src/project/config/config-file.ts'
import { runHere } from '../cli/support/run-here.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startTestApp } from '../support/test-app.ts'

vi.setConfig({ testTimeout: 60_000 })

test('tells the public address of an endpoint at the start, while the sandbox in the process uses the local one', async () => {
  const publicUrl = 'https://hooks.example.com/in'
  const { urls, heard, hear, sandbox } = await startTestApp({}, { config: { publicUrl } })
  expect(urls.endpoints.sandbox).toMatch(/^https:\/\/hooks\.example\.com\/in\/hooks\/sandbox-\w{32}$/)
  const started = heard.find((notice) => notice.kind === 'app.started')
  expect(started?.urls).toMatchObject({ 'endpoint sandbox': urls.endpoints.sandbox, receiver: urls.receiver })
  const { id } = await sandbox.events.emit('order.placed', {})
  expect(await hear('delivery.received', ({ event }) => event === id)).toMatchObject({ verdict: 'accepted' })
})

test('tries an endpoint through the public address when asked to', async () => {
  const { dataDir, urls } = await startTestApp()
  const test = (env: Record<string, string>) =>
    runHere(dataDir, ['endpoints', 'test', 'sandbox', '--public', '--json'], { env })
  expect(await test({ UPSHOT_PUBLIC_URL: `${urls.receiver}/` })).toMatchObject({
    exit: 0,
    json: { data: { passed: true } },
  })
  expect(await test({})).toMatchObject({
    exit: 2,
    json: { error: { fix: expect.stringContaining('UPSHOT_PUBLIC_URL') } },
  })
  const wrongWay = await test({ UPSHOT_PUBLIC_URL: `${urls.receiver}/elsewhere` })
  expect(wrongWay).toMatchObject({ exit: 7, json: { data: { passed: false, stored: false } } })
})

test('lets the sandbox sign with the secret that was made while the app stood still', async () => {
  const dataDir = tempFolder()
  const before = await startTestApp({}, { dataDir })
  await before.app.stop()
  expect((await runHere(dataDir, ['endpoints', 'rotate', 'sandbox', '--overlap', '0'])).exit).toBe(0)
  const { hear, sandbox } = await startTestApp({}, { dataDir })
  const { id } = await sandbox.events.emit('order.placed', {})
  expect(await hear('delivery.received', ({ event }) => event === id)).toMatchObject({ verdict: 'accepted' })
})

test.each([
  ['https://hooks.example.com', 'https://hooks.example.com'],
  ['https://hooks.example.com/in//', 'https://hooks.example.com/in'],
  ['https://HOOKS.example.com:8443/#', 'https://hooks.example.com:8443'],
  ['http://localhost:4700/', 'http://localhost:4700'],
])('reads the public address %s from the project file as %s', async (given, publicUrl) => {
  expect(await loadConfigFile(writeConfig(given))).toMatchObject({ publicUrl })
})

test.each([
  'http://hooks.example.com',
  'hooks.example.com',
  'https://me:word@hooks.example.com',
  'https://a.com/?x=1',
  'ftp://a.com',
])('refuses %s as the public address', async (given) => {
  await expect(loadConfigFile(writeConfig(given))).rejects.toThrow(/publicUrl: should be the https address/)
})

function writeConfig(publicUrl: string): string {
  const file = join(tempFolder(), 'upshot.config.ts')
  writeFileSync(file, `export default ${JSON.stringify({ publicUrl })}`)
  return file
}
