import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'

const MODULE = join(import.meta.dirname, '../../../src/project/data-dir/runtime-file.ts')

test('processes that start at once in one data directory do not take the file from each other', async () => {
  const dataDir = tempFolder()
  const code = `
    const { writeRuntimeFile } = await import(${JSON.stringify(MODULE)})
    const facts = { pid: process.pid, startedAt: '', receiver: '', admin: '', sandbox: null }
    for (let index = 0; index < 1000; index++) writeRuntimeFile(${JSON.stringify(dataDir)}, facts)`
  const write = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code])
  await Promise.all([write(), write(), write()])
  expect(readdirSync(dataDir)).toEqual(['runtime.json'])
})
