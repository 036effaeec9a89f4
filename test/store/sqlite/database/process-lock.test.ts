import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isLockFree } from '../../../../src/store/sqlite/database/process-lock.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

const MODULE = new URL('../../../../src/store/sqlite/database/process-lock.ts', import.meta.url).href

test('a process lock is free as soon as its process is killed, and not before', async () => {
  const folder = tempFolder()
  const file = join(folder, 'a.lock')
  const script = join(folder, 'holder.mjs')
  writeFileSync(
    script,
    `import { takeProcessLock } from '${MODULE}'
// Collected as garbage, the lock would be free.
globalThis.lock = takeProcessLock('${file}')
process.send('held')
setInterval(() => {}, 1e6)
`,
  )
  const holder = fork(script, { execArgv: [] })
  onTestFinished(() => void holder.kill('SIGKILL'))
  await once(holder, 'message')
  expect(isLockFree(file)).toBe(false)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  expect(isLockFree(file)).toBe(true)
})
