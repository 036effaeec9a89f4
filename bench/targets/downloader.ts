import { rm, stat } from 'node:fs/promises'
import { createFilesClient, type FilesClient } from '../../src/files/index.ts'
import { answerCalls } from '../processes/answer-calls.ts'
import { readMemory } from '../processes/read-memory.ts'
import type { Hosted } from './file-host.ts'

let files: FilesClient | null = null
let file: Hosted['file'] | null = null

answerCalls({
  async start(hosted: Hosted) {
    const { baseUrl, apiKey } = hosted
    files = createFilesClient({ baseUrl, apiKey, plan: 1_000_000 })
    file = hosted.file
  },

  /** Downloads the file or its missing part; `ms` ends when it is hashed and synced. */
  async download({ to }: { to: string }): Promise<{ ms: number; sha256: string; resumedFrom: number }> {
    if (!files || !file) throw new Error('it has not started')
    const begunAt = performance.now()
    const { sha256, resumedFrom } = await files.download(file, { to })
    return { ms: performance.now() - begunAt, sha256, resumedFrom }
  },

  /** Resident memory in MiB: now, and the peak of this process. */
  async memory(): Promise<{ nowMiB: number; peakMiB: number }> {
    return { nowMiB: readMemory(process.pid, 'VmRSS'), peakMiB: readMemory(process.pid, 'VmHWM') }
  },

  /** Aborts a download halfway; returns the bytes of its part file. */
  async interrupt({ to }: { to: string }): Promise<number> {
    if (!files || !file) throw new Error('it has not started')
    const { size } = file
    const caller = new AbortController()
    const onProgress = ({ bytes }: { bytes: number }) => {
      if (bytes >= size / 2) caller.abort()
    }
    await rm(to, { force: true })
    await files.download(file, { to, onProgress, signal: caller.signal }).catch(() => {})
    return (await stat(`${to}.part`)).size
  },
})
