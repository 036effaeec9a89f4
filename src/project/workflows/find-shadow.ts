import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The path of the shadow of a module: `tidy.shadow.ts` beside `tidy.workflow.ts`. No process runs
 * it for an event. Null where it is not there.
 */
export function findShadow(workflowsDir: string, file: string): string | null {
  const path = join(workflowsDir, nameShadow(file))
  return path !== join(workflowsDir, file) && existsSync(path) ? path : null
}

export function nameShadow(file: string): string {
  return file.replace(/\.workflow\.([jt]s)$/, '.shadow.$1')
}
