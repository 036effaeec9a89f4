import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { failure, ScriptedServer } from '../support/scripted-server.ts'

const PROCESS = fileURLToPath(new URL('../support/limited-process.ts', import.meta.url))

async function run(baseUrl: string, path: string, calls: number): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, baseUrl, path, String(calls)])
  return JSON.parse(stdout) as string[]
}

test('a process that is started while the key is blocked sends nothing', async () => {
  await using server = await ScriptedServer.start()
  const folder = tempFolder()
  server.otherwise(failure(429, 'rate_limit_exceeded', { 'retry-after': '300' }))
  const path = join(folder, 'limiter.db')
  expect(await run(server.baseUrl, path, 1)).toEqual(['RateLimitError'])
  expect(await run(server.baseUrl, path, 2)).toEqual(['LocalRateLimitError', 'LocalRateLimitError'])
  expect(server.seen).toHaveLength(1)
})
