import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Testbed, testbed } from '../../src/testing/index.ts'
import { outputOf } from '../support/sample-output.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The workflow on the front page, as it stands there. */
async function loadSample() {
  const [, code = ''] = /^```ts\n(\/\/ workflows\/retire-source[\s\S]*?)^```$/m.exec(
    readFileSync(join(ROOT, 'README.md'), 'utf8'),
  ) ?? ['']
  const path = join(folder, 'retire-source.workflow.ts')
  const door = pathToFileURL(join(ROOT, 'src/author/index.ts')).href
  writeFileSync(path, code.replace("from 'upshot'", `from '${door}'`))
  return (await import(pathToFileURL(path).href)).default
}

let workflow: Awaited<ReturnType<typeof loadSample>>
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'upshot-readme-'))
  workflow = await loadSample()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Transfers a file, lets `happen` change the world, and waits until the grace is over. */
async function retire(happen: (t: Testbed) => Promise<unknown>) {
  await using t = await testbed({ workflows: [workflow] })
  await t.storage('storage_a').put('/a.txt', 'the bytes')
  const sandbox = await t.sandbox()
  await (await sandbox.transfers.start({ from: ['storage_a', '/a.txt'], to: ['storage_b', '/a.txt'] })).done
  await t.send(t.emitted('transfer.completed'))
  await t.advance('1s')
  await happen(t)
  await t.advance('1h')
  const isThere = (await t.storage('storage_a').list()).some(({ path }) => path === '/a.txt')
  return { run: t.run(workflow), isThere }
}

test('the sample of the front page deletes a source whose copy is the same', async () => {
  const { run, isThere } = await retire(async () => {})
  expect(outputOf(run)).toMatchObject({ outcome: 'deleted' })
  expect(isThere).toBe(false)
})

test.each<[string, (t: Testbed) => Promise<unknown>]>([
  ['the copy has other bytes', (t) => t.storage('storage_b').put('/a.txt', 'the Bytes')],
  ['the copy is gone', (t) => t.storage('storage_b').remove('/a.txt')],
  ['the source has other bytes', (t) => t.storage('storage_a').put('/a.txt', 'the Bytes')],
  ['both were changed in the same way', (t) => changeBoth(t)],
  ['the download host sends an error page for both', (t) => t.faults.add({ on: 'download', html: true, status: 200 })],
])('the sample of the front page keeps a source when %s', async (_name, happen) => {
  expect((await retire(happen)).isThere).toBe(true)
})

async function changeBoth(t: Testbed) {
  await t.storage('storage_a').put('/a.txt', 'the Bytes')
  await t.storage('storage_b').put('/a.txt', 'the Bytes')
}

test('the sample of the front page keeps a source when no size proves the bytes', async () => {
  const calls: string[] = []
  const file = { service: 'storage_a', id: 'a', size: null }
  const end = { service: 'storage_a', fileId: 'a', id: 'a' }
  const result = await workflow.run({
    event: { data: { transfer: { source: end, destination: { ...end, id: 'b' } } } },
    files: {
      get: async () => file,
      hash: async () => ({ sha256: 'same', bytes: 5, proof: 'none' }),
      delete: async () => calls.push('delete'),
    },
    step: { sleep: async () => {} },
  })
  expect(result).toEqual({ kept: 'nothing proves the bytes' })
  expect(calls).toEqual([])
})
