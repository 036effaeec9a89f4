import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hashModule } from './hash-module.ts'

/** A module that is tried beside the one at work. No process runs it for an event. */
export interface ShadowModule {
  /** Its name within the folder, such as `tidy.shadow.ts`. */
  file: string
  path: string
  code: string
}

const SHADOW = /\.shadow\.([jt]s)$/

/** Every `*.shadow.ts` or `.js` of a folder, sorted by name; none without the folder. */
export async function listShadows(folder: string): Promise<ShadowModule[]> {
  const files = (await readdir(folder).catch(() => [])).filter((file) => SHADOW.test(file)).sort()
  return Promise.all(
    files.map(async (file) => ({ file, path: join(folder, file), code: await hashModule(join(folder, file)) })),
  )
}

/** The name of the module whose place a shadow takes: `tidy.workflow.ts` for `tidy.shadow.ts`. */
export function workflowFileOf(shadow: string): string {
  return shadow.replace(SHADOW, '.workflow.$1')
}
