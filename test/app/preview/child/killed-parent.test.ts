import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { CHILD_ENVIRONMENT } from '../../../support/child-environment.ts'
import { BLOCK } from '../../../support/program.ts'
import { startGroup } from '../../../support/start-group.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

const APP = join(import.meta.dirname, '../../../../src/app')
const LOOP = `console.log('blocked ' + process.pid)\n${BLOCK}`

/** Begins the app of a rehearsal with this folder of workflows, whose modules block it. */
const rehearse = (folder: string) => `
import { Child } from '${pathToFileURL(join(APP, 'preview/child/child.ts'))}'
const entry = '${join(APP, 'rehearsal/rehearsal-main.ts')}'
const child = new Child({ name: 'The app', entry, handlers: {}, output: 'inherit' })
await child.call('start', { workflowsDir: '${folder}', logLevel: 'error' }, [])`

/** Loads such a folder into an isolated process. */
const preview = (folder: string) => `
import { IsolatedProcess } from '${pathToFileURL(join(APP, 'preview/isolated-process.ts'))}'
const settings = { workflowsDir: '${folder}', guard: {}, spellings: {} }
await IsolatedProcess.open({ settings, store: {}, onPrint: (text) => process.stdout.write(text) })`

test.each([
  { what: 'the app of a rehearsal', begin: rehearse, signal: 'SIGKILL' },
  { what: 'an isolated process', begin: preview, signal: 'SIGKILL' },
  { what: 'an isolated process', begin: preview, signal: 'SIGTERM' },
] as const)(
  '$what that code blocks ends once its parent has ended by $signal',
  async ({ begin, signal }) => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'loop.workflow.ts'), LOOP)
    const program = join(tempFolder(), 'parent.mjs')
    writeFileSync(program, begin(folder))
    const parent = startGroup(process.execPath, [program], { env: CHILD_ENVIRONMENT })
    let blocked = 0
    for await (const line of createInterface(parent.stdout)) {
      blocked = Number(/^blocked (\d+)/.exec(line)?.[1] ?? 0)
      if (blocked > 0) break
    }
    expect(isAlive(blocked)).toBe(true)
    parent.kill(signal)
    while (isAlive(blocked)) await sleep(20)
  },
  15_000,
)

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}
