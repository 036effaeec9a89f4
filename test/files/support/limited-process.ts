import { createFilesClient, FilesError } from '../../../src/files/index.ts'
import { storedLimits } from '../../../src/files/limit/limiter-store.ts'
import { openThreadedStore } from '../../../src/store/sqlite/thread/threaded-store.ts'

/** A process that makes `calls` reads at once and prints how each of them ended. */
const [, , baseUrl = '', file = '', calls = '0'] = process.argv

const store = openThreadedStore({ file, vaultKey: Buffer.alloc(32) })
const files = createFilesClient({
  baseUrl,
  apiKey: 'sk_sandbox_shared_key_1',
  plan: 6,
  limiter: storedLimits(store),
  // Far below one window, however late a process starts: a read that cannot start now fails.
  retry: { maxWait: '10s' },
})
const ends = await Promise.all(
  Array.from({ length: Number(calls) }, (_, index) =>
    files.get({ service: 'storage_a', id: `${process.pid}-${index}` }).then(
      () => 'ok',
      (error: unknown) => (error instanceof FilesError ? error.name : String(error)),
    ),
  ),
)
await store.close()
process.stdout.write(JSON.stringify(ends))
