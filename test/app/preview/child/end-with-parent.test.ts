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

const SRC = join(import.meta.dirname, '../../../../src/app')
const LOOP = `console.log('blocked ' + process.pid)\n${BLOCK}`

/** Processes that load this folder of workflows, and whose modules block them. */
const PARENTS: Record<string, (folder: string) => string> = {
  'isolated process': (folder) => `
import { IsolatedProcess } from '${pathToFileURL(join(SRC, 'preview/isolated-process.ts'))}'
await IsolatedProcess.open({
  settings: { workflowsDir: '${folder}', guard: {}, spellings: {} },
  store: {},
  onPrint: (text) => process.stdout.write(text),
})`,
  'app of a rehearsal': (folder) => `
import { Child } from '${pathToFileURL(join(SRC, 'preview/child/child.ts'))}'
const entry = '${join(SRC, 'rehearsal/rehearsal-main.ts')}'
const child = new Child({ name: 'The app', entry, handlers: {}, output: 'inherit' })
await child.call('start', { workflowsDir: '${folder}', logLevel: 'error' }, [])`,
}

test.each(Object.keys(PARENTS))(
  'an %s that code blocks ends once its parent is killed',
  async (name) => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'loop.workflow.ts'), LOOP)
    const program = join(tempFolder(), 'parent.mjs')
    writeFileSync(program, PARENTS[name]?.(folder) ?? '')
    const parent = startGroup(process.execPath, [program], { env: CHILD_ENVIRONMENT })
    let blocked = 0
    for await (const line of createInterface(parent.stdout)) {
      blocked = Number(/^blocked (\d+)/.exec(line)?.[1] ?? 0)
      if (blocked > 0) break
    }
    expect(isAlive(blocked)).toBe(true)
    parent.kill('SIGKILL')
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
