import { expect, test } from 'vitest'
import { pathsIn } from '../../support/paths-in.ts'
import { openAccount } from '../support/open-account.ts'

test('2.5: mixed forms are drawn from the seed for each request', async () => {
  const formsWith = async (seed: number) => {
    const { ask } = await openAccount({ form: 'mixed', seed })
    const replies = []
    for (let n = 0; n < 16; n++) replies.push('success' in (await ask('/files?service=storage_a')).body)
    return replies
  }
  const forms = await formsWith(3)
  expect(await formsWith(3)).toEqual(forms)
  expect(new Set(forms).size).toBe(2)
})

test('4.3: a storage is recognized with any separator, unless names are strict', async () => {
  const { sandbox, ask } = await openAccount()
  for (const name of ['storage_a', 'Storage-A', 'storagea', 'storage%20a'])
    expect((await ask(`/files?service=${name}`)).status).toBe(200)
  sandbox.settings.update({ strictServiceNames: true })
  expect((await ask('/files?service=storage_a')).status).toBe(400)
  expect((await ask('/files?service=storagea')).status).toBe(200)
})

test('4.3: `listEndpoint` leaves one list endpoint', async () => {
  const { sandbox, ask } = await openAccount()
  const post = () =>
    ask('/files/list', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"service":"storage_a"}',
    })
  sandbox.settings.update({ listEndpoint: 'alternative' })
  const refused = await ask('/files?service=storage_a')
  expect([refused.status, refused.body.error.code]).toEqual([404, 'invalid_request'])
  expect((await post()).status).toBe(200)
  sandbox.settings.update({ listEndpoint: 'primary' })
  expect((await post()).status).toBe(404)
})

test('4.3: `pagination` off leaves out pagination', async () => {
  const { sandbox, ask } = await openAccount()
  sandbox.settings.update({ pagination: false })
  const { body } = await ask('/files?service=storage_a')
  expect(body).not.toHaveProperty('pagination')
  expect(body.data).toHaveLength(2)
})

test('4.6: a folder can be deleted only with `deleteFolders`', async () => {
  const { sandbox, ask } = await openAccount()
  const folder = sandbox
    .storage('storage_a')
    .list()
    .find(({ type }) => type === 'folder')
  const remove = () => ask(`/files/${folder?.id}?service=storage_a`, { method: 'DELETE' })
  expect((await remove()).status).toBe(400)
  sandbox.settings.update({ deleteFolders: true })
  expect((await remove()).status).toBe(200)
  expect(pathsIn(sandbox)).toEqual(['/empty.txt'])
  expect(sandbox.events.list({ type: 'file.deleted' })).toHaveLength(1)
})

test('files with hostile ids are found, and replies can carry unknown fields', async () => {
  const { sandbox, ask } = await openAccount()
  sandbox.settings.update({ hostileIds: true, unknownFields: true })
  const ids = new Set<string>()
  for (let n = 0; n < 20; n++) ids.add((await sandbox.storage('storage_c').put(`/${n}.txt`, 'x')).id)
  expect([...ids].some((id) => id.includes('/'))).toBe(true)
  for (const id of ids) {
    const { status, body } = await ask(`/files/${encodeURIComponent(id)}?service=storage_c`)
    expect([status, body.data.id]).toEqual([200, id])
    expect(body.data).toHaveProperty('addedInALaterVersion')
    const url = (await ask(`/files/${encodeURIComponent(id)}/download?service=storage_c`)).body.data.downloadUrl
    expect((await fetch(url)).status).toBe(200)
  }
})
