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

test('list() uses whichever list endpoint the sandbox has', async () => {
  await using bench = await start({ form: 'alternative' })
  bench.sandbox.settings.update({ listEndpoint: 'alternative' })
  await bench.sandbox.storage('storage_b').put('/x.txt', 'x')
  const page = await bench.files.list({ service: 'storage_b' })
  expect(page.items.map((item) => item.path)).toEqual(['/x.txt'])
})

test('snapshot() holds every entry although the sandbox gives no pagination', async () => {
  await using bench = await start()
  bench.sandbox.settings.update({ pagination: false })
  for (let number = 0; number < 205; number++) await bench.sandbox.storage('storage_c').put(`/${number}.txt`, 'x')
  const all = await bench.files.snapshot({ service: 'storage_c' })
  expect(all.items).toHaveLength(205)
})

test('an entry with a hostile id is reached or refused, and never taken for another', async () => {
  await using bench = await start()
  bench.sandbox.settings.update({ hostileIds: true, unknownFields: true })
  for (let number = 0; number < 12; number++)
    await bench.sandbox.storage('storage_a').put(`/${number}.txt`, String(number))
  for await (const file of bench.files.iterate({ service: 'storage_a' })) {
    const result = await bench.files.get(file).catch((error: Error) => error.name)
    expect(['InvalidRequestError', file.path]).toContain(typeof result === 'string' ? result : result.path)
  }
})

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
