import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { answerCalls } from '../processes/answer-calls.ts'

const FILES_PER_FOLDER = 1_000
/** Entries per page. */
const LIMIT = 100

let sandbox: Sandbox | undefined
let key = ''
/** Resolves with the time of the next delivery. */
let arrived = Promise.withResolvers<number>()

const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    arrived.resolve(performance.now())
    response.end()
  })
}).listen(0, '127.0.0.1')

function opened(): Sandbox {
  if (sandbox === undefined) throw new Error('The sandbox does not run yet.')
  return sandbox
}

/** Writes `files` empty files, 1,000 per folder. */
function fill({ dir, files }: { dir: string; files: number }): void {
  for (let n = 0; n < files; n++) {
    const folder = join(dir, 'storages/storage_a', `folder-${Math.floor(n / FILES_PER_FOLDER)}`)
    if (n % FILES_PER_FOLDER === 0) mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `file-${n}.txt`), '')
  }
}

/** Starts the sandbox without a database, so that it reads and indexes the whole directory. */
async function scan(dir: string): Promise<{ ms: number; cpuMs: number; entries: number; rssMb: number }> {
  await sandbox?.stop()
  for (const end of ['', '-wal', '-shm']) rmSync(join(dir, `sandbox.db${end}`), { force: true })
  const before = process.memoryUsage.rss()
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  sandbox = await startSandbox({ dir, plan: 'unlimited' })
  const ms = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuBefore)
  const rssMb = (process.memoryUsage.rss() - before) / 2 ** 20
  key = (await sandbox.keys.create({ name: 'bench', scope: 'read-only' })).key
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await sandbox.webhooks.add({ url, events: ['file.created'] })
  return { ms, cpuMs: (user + system) / 1_000, entries: sandbox.storage('storage_a').list().length, rssMb }
}

/** Milliseconds of each page of a recursive list of all files. */
async function list(): Promise<number[]> {
  const times: number[] = []
  for (let page = 1, last = 1; page <= last; page++) {
    const startedAt = performance.now()
    const reply = await fetch(`${opened().url}/files?service=storage_a&recursive=true&limit=${LIMIT}&page=${page}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const body = (await reply.json()) as { pagination: { totalPages: number } }
    times.push(performance.now() - startedAt)
    last = body.pagination.totalPages
  }
  return times
}

/** Milliseconds from the write of a file to the arrival of its event. */
async function drop({ dir, name }: { dir: string; name: string }): Promise<number> {
  arrived = Promise.withResolvers<number>()
  writeFileSync(join(dir, 'storages/storage_a/folder-0', name), 'dropped')
  const droppedAt = performance.now()
  return (await arrived.promise) - droppedAt
}

answerCalls({
  fill,
  scan,
  list,
  drop,
  async stop(dir: string) {
    await opened().stop()
    receiver.closeAllConnections()
    receiver.close()
    await once(receiver, 'close')
    rmSync(dir, { recursive: true, force: true })
  },
})
