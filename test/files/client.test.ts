import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ManualClock, waitUntil } from '../../src/core/time.ts'
import { createFilesClient, type FilesLogLine, type LocalRateLimitError, NotFoundError } from '../../src/files/index.ts'
import { type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { sha256, someBytes } from './support/download-host.ts'
import { errorOf } from './support/test-client.ts'

async function start(options: Partial<SandboxOptions> = {}) {
  const dir = tempFolder()
  const sandbox = await startSandbox({ dir, plan: 'unlimited', ...options })
  const { key } = await sandbox.keys.create({ name: 'test', scope: 'read-write' })
  return {
    dir,
    sandbox,
    files: createFilesClient({ baseUrl: sandbox.url, apiKey: key, plan: 100_000 }),
    [Symbol.asyncDispose]: () => sandbox.stop(),
  }
}

test.each(['primary', 'alternative', 'mixed'] as const)(
  'every operation works against a sandbox in %s form',
  async (form) => {
    await using bench = await start({ form, seed: 7 })
    const bytes = someBytes(200_000)
    for (let number = 0; number < 130; number++) await bench.sandbox.storage('storage_a').put(`/in/${number}.txt`, 'x')
    await bench.sandbox.storage('storage_a').put('/in/ä ö/big?.bin', bytes)

    const all = await bench.files.snapshot({ service: 'storage_a', path: '/in', recursive: true })
    expect(all.complete).toBe(true)
    expect(all.items.filter((item) => item.type === 'file')).toHaveLength(131)
    const big = all.items.find((item) => item.name === 'big?.bin')
    if (big === undefined) throw new Error('the big file is not listed')

    expect(await bench.files.get(big)).toMatchObject({ ...big, owner: expect.anything() })
    const done = await bench.files.download(big, { to: join(bench.dir, 'out', 'big.bin') })
    expect(done).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes) })
    expect(await readFile(done.path)).toEqual(bytes)

    expect(await bench.files.delete(big, { expect: big })).toEqual({ outcome: 'deleted', proof: 'reply' })
    expect(await bench.files.delete(big)).toEqual({ outcome: 'not_found', proof: 'none' })
    expect(await errorOf(bench.files.get(big))).toBeInstanceOf(NotFoundError)
  },
)

test('three hundred calls at once under the free plan cause no 429 and no needless wait', async () => {
  const dir = tempFolder()
  const sandbox = await startSandbox({ dir, plan: 'free', clock: 'manual' })
  try {
    const { key } = await sandbox.keys.create({ name: 'test' })
    const entries = []
    for (let number = 0; number < 300; number++) {
      entries.push(await sandbox.storage('storage_a').put(`/${number}.txt`, 'x'))
    }
    const clock = new ManualClock(sandbox.clock.now())
    const began = clock.now()
    const statuses: (number | null)[] = []
    const log = (line: FilesLogLine) => line.kind === 'attempt' && statuses.push(line.status)
    let inFlight = 0
    const counted: typeof fetch = (url, init) => {
      inFlight++
      return fetch(url, init).finally(() => inFlight--)
    }
    const files = createFilesClient({ baseUrl: sandbox.url, apiKey: key, plan: 'free', clock, log, fetch: counted })
    let done = 0
    const call = (id: string): void =>
      void files.get({ service: 'storage_a', id }).then(
        () => done++,
        async (error: LocalRateLimitError) => {
          await waitUntil(clock, error.retryAt)
          call(id)
        },
      )
    for (const { id } of entries) call(id)
    while (done < 300) {
      for (let turns = 0; turns < 20 || inFlight > 0; turns++) await turn()
      const next = clock.nextAt()
      if (next === null) continue
      await sandbox.clock.advance(next - clock.now())
      clock.set(next)
    }
    expect(statuses).toEqual(Array(300).fill(200))
    expect(clock.now() - began).toBeLessThan((300 / 60) * 61_000)
  } finally {
    await sandbox.stop()
  }
})
