import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import { CONTENT, FILE, test } from '../support/download-bench.ts'
import { serveBytes, sha256 } from '../support/download-host.ts'

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
