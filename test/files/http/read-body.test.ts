import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { StalledError } from '../../../src/files/index.ts'
import { startDownloads } from '../support/download-bench.ts'
import { someBytes } from '../support/download-host.ts'
import { REF } from '../support/entries.ts'
import { stall } from '../support/scripted-server.ts'
import { errorOf } from '../support/test-client.ts'

test('a silent download ends by its stall, however long its reader took before', async () => {
  await using bench = await startDownloads({ retry: { attempts: 1 } })
  const { files, clock } = bench
  const bytes = someBytes(1_000)
  bench.host.otherwise(stall({ 'content-length': '2000' }, bytes))
  const chunks = files.stream({ ...REF, size: 2_000 })
  expect(Buffer.from((await chunks.next()).value ?? [])).toEqual(bytes)
  clock.advance('119s')
  const error = errorOf(chunks.next())
  while (clock.nextAt() === null) await turn()
  clock.advance('19s')
  clock.advance('1s')
  expect(await error).toBeInstanceOf(StalledError)
})
