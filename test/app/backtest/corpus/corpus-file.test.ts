import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CORPUS_VERSION, readCorpus, writeCorpus } from '../../../../src/app/backtest/corpus/corpus-file.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

test('a corpus that was cut off at any byte is refused as such, and a missing one, too', () => {
  const file = join(tempFolder(), 'tidy.ndjson.gz')
  const starts = { eventTypes: ['file.created'], schedule: null, limits: '{}' }
  const head = { corpus: CORPUS_VERSION, workflow: 'tidy', codeHash: '3f9a', starts, savedAt: 0, runs: 0 }
  writeCorpus(file, head, [])
  expect(readCorpus(file).head).toEqual(head)
  const whole = readFileSync(file)
  for (let length = 0; length < whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length))
    expect(() => readCorpus(file), `${length} bytes`).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  }
  expect(() => readCorpus(`${file}.none`)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
})
