import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { readStdin, readText } from '../../../src/cli/input/read-source.ts'
import { tempFolder } from '../../support/temp-folder.ts'

test('a text that begins with the mark of Windows is read without it', async () => {
  const text = '\uFEFF{"id":"evt_1"}'
  const file = join(tempFolder(), 'event.json')
  writeFileSync(file, text)
  expect(readText(file)).toBe('{"id":"evt_1"}')
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([Buffer.from(text)]) as never)
  expect(await readStdin('the event')).toBe('{"id":"evt_1"}')
})
