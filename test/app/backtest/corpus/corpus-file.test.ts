import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CORPUS_VERSION, readCorpusHead, writeCorpus } from '../../../../src/app/backtest/corpus/corpus-file.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

test('a corpus that was cut off at any byte is refused as such, and a missing one, too', async () => {
  const file = join(tempFolder(), 'tidy.ndjson.gz')
  const starts = { eventTypes: ['file.created'], schedule: null, limits: '{}' }
  const head = { corpus: CORPUS_VERSION, workflow: 'tidy', codeHash: '3f9a', starts, savedAt: 0, runs: 0 }
  await writeCorpus(file, head, [])
  expect(await readCorpusHead(file)).toEqual(head)
  const whole = readFileSync(file)
  for (let length = 0; length < whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length))
    await expect(readCorpusHead(file), `${length} bytes`).rejects.toMatchObject({ code: 'invalid_request' })
  }
  await expect(readCorpusHead(`${file}.none`)).rejects.toMatchObject({ code: 'invalid_request' })
})
