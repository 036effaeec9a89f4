import { expect, test } from 'vitest'
import { call } from '../support/call.ts'
import { openSandbox } from '../support/open-sandbox.ts'

test('the audit finds every violation of its rules', async () => {
  const sandbox = await openSandbox({ plan: 'free' })
  const { key, id } = await sandbox.keys.create({ name: 'careless' })
  const list = (query = '', credential = key) => call(sandbox, `/files?service=storage_a${query}`, { key: credential })
  const rules = () => sandbox.audit.findings().map(({ rule }) => rule)

  for (let n = 0; n < 101; n++) await list()
  expect(rules()).toEqual([])
  await list()
  expect(sandbox.audit.findings()).toMatchObject([{ rule: 'called_before_retry_after', keyId: id }])
  await sandbox.clock.advance('2m')

  await list('&limit=500')
  expect(rules().at(-1)).toBe('limit_over_100')
  await list('', 'sk_sandbox_wrong')
  expect(rules()).toHaveLength(2)
  await list('', 'sk_sandbox_wrong')
  expect(rules().at(-1)).toBe('refused_key_reused')
  await fetch(`${sandbox.downloadOrigin}/download/storage_a/x`, { headers: { authorization: `Bearer ${key}` } })
  expect(rules().at(-1)).toBe('key_on_download_host')
})

test('the audit finds nothing if a client waits as long as it is told', async () => {
  const sandbox = await openSandbox({ plan: 'free' })
  const { key } = await sandbox.keys.create({ name: 'careful' })
  for (let n = 0; n < 130; n++) {
    const { headers } = await call(sandbox, '/files?service=storage_a', { key })
    await sandbox.clock.advance(Number(headers.get('retry-after') ?? 0) * 1000)
  }
  expect(sandbox.audit.findings()).toEqual([])
})

test('the journal of requests names keys by id only', async () => {
  const sandbox = await openSandbox()
  const { key, id } = await sandbox.keys.create({ name: 'test' })
  await call(sandbox, '/files?service=storage_a', { key })
  await call(sandbox, '/files', { key })
  expect(sandbox.audit.requests()).toMatchObject([
    { operation: 'files.list', keyId: id, status: 200, code: null },
    { operation: 'files.list', keyId: id, status: 400, code: 'invalid_request' },
  ])
  expect(JSON.stringify(sandbox.audit.requests())).not.toContain(key)
})
