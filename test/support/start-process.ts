import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHILD_ENVIRONMENT } from './child-environment.ts'
import { followLog } from './process-log.ts'
import { APP } from './program.ts'
import { startGroup } from './start-group.ts'
import { tempFolder } from './temp-folder.ts'

/** Variables with which a process listens where nothing else does. */
export const FREE_PORTS = {
  UPSHOT_PORT: '0',
  UPSHOT_ADMIN_PORT: '0',
  UPSHOT_SANDBOX_PORT: '0',
  UPSHOT_SANDBOX_DOWNLOAD_PORT: '0',
}

/** Writes these modules into `workflows` of a project folder. */
export function makeProject(modules: Record<string, string>, root = tempFolder()): string {
  mkdirSync(join(root, 'workflows'), { recursive: true })
  for (const [file, text] of Object.entries(modules)) {
    const path = join(root, 'workflows', file)
    // In one go: a process that watches the folder never loads an empty file.
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  return root
}

/** Starts the real process in a new project folder with these modules. */
export function startProcess(modules: Record<string, string> = {}, environment: Record<string, string> = {}) {
  return startIn(makeProject(modules), environment)
}

/** Starts the real process, or `program`, in a project folder. It is killed after the test. */
export function startIn(
  root: string,
  environment: Record<string, string> = {},
  args: readonly string[] = [],
  program = APP,
) {
  const child = startGroup(process.execPath, [program, ...args], {
    cwd: root,
    env: { ...CHILD_ENVIRONMENT, ...FREE_PORTS, ...environment },
  })
  return { root, child, ...followLog(child) }
}
