import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { requestedEntry } from '../support/entries.ts'
import { failure, ScriptedServer } from '../support/scripted-server.ts'

const PROCESS = fileURLToPath(new URL('../support/limited-process.ts', import.meta.url))

async function run(baseUrl: string, path: string, calls: number): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, baseUrl, path, String(calls)])
  return JSON.parse(stdout) as string[]
}

test('two processes with one key keep to one limit', async () => {
  await using server = await ScriptedServer.start()
  const folder = tempFolder()
  server.otherwise(requestedEntry())
  const path = join(folder, 'limiter.db')
  const ends = (await Promise.all([run(server.baseUrl, path, 5), run(server.baseUrl, path, 5)])).flat()
  expect(ends.toSorted()).toEqual([...Array(4).fill('LocalRateLimitError'), ...Array(6).fill('ok')])
  expect(server.seen).toHaveLength(6)
})

test('a process that is started while the key is blocked sends nothing', async () => {
  await using server = await ScriptedServer.start()
  const folder = tempFolder()
  server.otherwise(failure(429, 'rate_limit_exceeded', { 'retry-after': '300' }))
  const path = join(folder, 'limiter.db')
  expect(await run(server.baseUrl, path, 1)).toEqual(['RateLimitError'])
  expect(await run(server.baseUrl, path, 2)).toEqual(['LocalRateLimitError', 'LocalRateLimitError'])
  expect(server.seen).toHaveLength(1)
})
