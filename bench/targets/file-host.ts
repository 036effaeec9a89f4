import { randomBytes } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { createFilesClient } from '../../src/files/index.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { answerCalls } from '../processes/answer-calls.ts'

const BLOCK_BYTES = 1024 * 1024

/** Access to the hosted file, for another process. */
export interface Hosted {
  baseUrl: string
  apiKey: string
  file: { service: 'storage_a'; id: string; size: number; modifiedAt: string | null }
}

let sandbox: Sandbox | null = null
let hosted: Hosted | null = null

answerCalls({
  /** Starts a sandbox with one file of random bytes. */
  async start({ folder, bytes }: { folder: string; bytes: number }): Promise<Hosted> {
    sandbox = await startSandbox({ dir: join(folder, 'sandbox'), plan: 'unlimited', hints: false })
    const storage = sandbox.storage('storage_a')
    const draft = storage.draftPath()
    const handle = await open(draft, 'w')
    await writeRandom(handle, bytes)
    await handle.close()
    storage.adopt(draft, '/large.bin')
    const { key } = await sandbox.keys.create({ name: 'bench', scope: 'read-only' })
    const files = createFilesClient({ baseUrl: sandbox.url, apiKey: key, plan: 1_000_000 })
    const entry = await files.find({ service: 'storage_a', path: '/large.bin' })
    if (!entry) throw new Error('the file is not where it was put')
    const { id, modifiedAt } = entry
    hosted = { baseUrl: sandbox.url, apiKey: key, file: { service: 'storage_a', id, size: bytes, modifiedAt } }
    return hosted
  },

  /** A new download URL of the file. */
  async url(): Promise<string> {
    if (!hosted) throw new Error('it has not started')
    const { baseUrl, apiKey, file } = hosted
    return (await createFilesClient({ baseUrl, apiKey }).downloadUrl(file)).url.reveal()
  },

  async stop() {
    await sandbox?.stop()
  },
})

async function writeRandom(handle: FileHandle, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; left -= BLOCK_BYTES) await handle.write(randomBytes(Math.min(left, BLOCK_BYTES)))
}
