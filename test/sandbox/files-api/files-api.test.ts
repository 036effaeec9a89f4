import { request } from 'node:http'
import { expect, test } from 'vitest'
import { openSandbox } from '../support/open-sandbox.ts'

async function withFiles() {
  const sandbox = await openSandbox()
  const { key } = await sandbox.keys.create({ name: 'test', scope: 'read-write' })
  for (const path of ['/in/a.txt', '/in/deep/b.pdf', '/c.csv']) {
    await sandbox.clock.advance('1s')
    await sandbox.storage('storage_a').put(path, `content of ${path}`)
  }
  return { sandbox, key }
}

test('the alternative list takes a GET with a body, and each name of the page token', async () => {
  const { sandbox, key } = await withFiles()
  const ask = (body: object) =>
    new Promise<{ data: { files: { id: string }[]; next_page_token: string | null } }>((resolve, reject) => {
      const text = JSON.stringify({ service: 'storage_a', path: '/', recursive: true, limit: 4, ...body })
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }
      const outgoing = request(`${sandbox.url}/files/list`, { method: 'GET', headers }, async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        resolve(JSON.parse(Buffer.concat(chunks).toString()))
      })
      outgoing.on('error', reject)
      outgoing.end(text)
    })
  const first = await ask({})
  expect(first.data.files).toHaveLength(4)
  for (const name of ['page_token', 'next_page_token', 'pageToken']) {
    const second = await ask({ [name]: first.data.next_page_token })
    expect(second.data.files).toHaveLength(1)
    expect(first.data.files.map(({ id }) => id)).not.toContain(second.data.files[0]?.id)
  }
  const refused = await ask({ page_token: 'made up' })
  expect(refused).toMatchObject({ status: 'error', error: { code: 'invalid_parameter' } })
})
