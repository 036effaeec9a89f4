import { expect, test, vi } from 'vitest'
import { runHere } from '../cli/support/run-here.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startTestApp } from '../support/test-app.ts'

vi.setConfig({ testTimeout: 60_000 })

test('a started app lists public addresses, while its sandbox uses the local one', async () => {
  const publicUrl = 'https://hooks.example.com/in'
  const { urls, heard, hear, sandbox } = await startTestApp({}, { config: { publicUrl } })
  expect(urls.endpoints.sandbox).toMatch(/^https:\/\/hooks\.example\.com\/in\/hooks\/sandbox-\w{32}$/)
  const started = heard.find((notice) => notice.kind === 'app.started')
  expect(started?.urls).toMatchObject({ 'endpoint sandbox': urls.endpoints.sandbox, receiver: urls.receiver })
  const { id } = await sandbox.events.emit('order.placed', {})
  expect(await hear('delivery.received', ({ event }) => event === id)).toMatchObject({ verdict: 'accepted' })
})

test('endpoints test --public sends its delivery to the public address', async () => {
  const { dataDir, urls } = await startTestApp()
  const send = (env: Record<string, string>) =>
    runHere(dataDir, ['endpoints', 'test', 'sandbox', '--public', '--json'], { env })
  expect(await send({ UPSHOT_PUBLIC_URL: `${urls.receiver}/` })).toMatchObject({
    exit: 0,
    json: { data: { isPassed: true } },
  })
  expect(await send({})).toMatchObject({
    exit: 2,
    json: { error: { fix: expect.stringContaining('UPSHOT_PUBLIC_URL') } },
  })
  const wrongWay = await send({ UPSHOT_PUBLIC_URL: `${urls.receiver}/elsewhere` })
  expect(wrongWay).toMatchObject({ exit: 7, json: { data: { isPassed: false, isStored: false } } })
})

test('a secret that was rotated while the app was stopped is used by its sandbox', async () => {
  const dataDir = tempFolder()
  const before = await startTestApp({}, { dataDir })
  await before.app.stop()
  expect((await runHere(dataDir, ['endpoints', 'rotate', 'sandbox', '--overlap', '0'])).exit).toBe(0)
  const { hear, sandbox } = await startTestApp({}, { dataDir })
  const { id } = await sandbox.events.emit('order.placed', {})
  expect(await hear('delivery.received', ({ event }) => event === id)).toMatchObject({ verdict: 'accepted' })
})
