import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A folder of modules that has one module alone. */
interface WrappedModule extends AsyncDisposable {
  workflowsDir: string
}

/** Makes such a folder of a module, whatever its name. Its own imports stay as they are. */
export function wrapModule(path: string): WrappedModule {
  const folder = mkdtempSync(join(tmpdir(), 'upshot-module-'))
  writeFileSync(
    join(folder, 'module.workflow.js'),
    `export { default } from ${JSON.stringify(pathToFileURL(path).href)}\n`,
  )
  return {
    workflowsDir: folder,
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  }
}
