import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import { CONTENT, FILE, test } from '../support/download-bench.ts'
import { cutAt, serveBytes, sha256, watchProgress } from '../support/download-host.ts'
import { reset } from '../support/scripted-server.ts'
import { errorOf } from '../support/test-client.ts'

test('a download is written atomically, and its host does not learn the key', async ({ downloads: bench }) => {
  bench.host.script(serveBytes(CONTENT))
  const progress: { bytes: number; total: number | null }[] = []
  const to = bench.path('deep/er/report.bin')

  const done = await bench.files.download(FILE, { to, onProgress: (step) => progress.push(step) })

  expect(done).toEqual({ path: to, bytes: CONTENT.length, sha256: sha256(CONTENT), resumedFrom: 0, proof: 'size' })
  expect(await readFile(to)).toEqual(CONTENT)
  expect(await readdir(dirname(to))).toEqual(['report.bin'])
  expect(progress.at(-1)).toEqual({ bytes: CONTENT.length, total: CONTENT.length })
  expect(bench.host.seen[0]?.headers.authorization).toBeUndefined()
})

test('a download gives up when no new byte comes, and the next one continues it', async ({ downloads: bench }) => {
  const { reached, onProgress } = watchProgress()
  bench.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) })).otherwise(reset)
  const to = bench.path('x')
  expect(await errorOf(bench.files.download(FILE, { to, onProgress }))).toMatchObject({
    name: 'ConnectionError',
    retryable: true,
  })
  expect(existsSync(to)).toBe(false)

  bench.host.otherwise(serveBytes(CONTENT))
  const done = await bench.files.download(FILE, { to })
  expect(done).toMatchObject({ sha256: sha256(CONTENT), bytes: CONTENT.length, resumedFrom: 100_000 })
  expect(await readdir(dirname(to))).toEqual(['x'])
})
