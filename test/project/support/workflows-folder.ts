import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Notice } from '../../../src/core/notices.ts'
import { WorkflowSet } from '../../../src/project/workflows/workflow-set.ts'
import { DOOR } from '../../support/program.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** Source of a workflow module; `output` is the expression that its run returns. */
export function moduleOf(id: string, output: string, on = `'*'`): string {
  return `import { cron, defineWorkflow } from '${DOOR}'
void cron
export default defineWorkflow({ id: '${id}', on: ${on}, run: () => ${output} })`
}

/** A workflows folder with these files, and its loaded set. */
export async function openFolder(files: Record<string, string>) {
  const root = tempFolder()
  const folder = join(root, 'workflows')
  mkdirSync(folder)
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  for (const [name, text] of Object.entries(files)) write(name, text)
  const heard: Notice[] = []
  const set = await WorkflowSet.load(folder, (notice) => void heard.push(notice), { isWatched: true })
  const runOf = (id: string) => (set.find(id) as { run?: () => unknown } | undefined)?.run?.()
  let versions = 0
  return { root, folder, write, heard, set, runOf, reload: () => set.reload(`v${++versions}-${root.at(-1)}`) }
}
