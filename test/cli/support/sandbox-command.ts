import { openSandbox } from '../../sandbox/support/open-sandbox.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { runHere } from './run-here.ts'

/** A sandbox in this process, and `upshot sandbox` with its address. */
export async function openSandboxCommand() {
  const sandbox = await openSandbox()
  const folder = tempFolder()
  const run = (...args: string[]) => runHere(folder, ['sandbox', ...args, '--url', sandbox.url])
  const json = async (...args: string[]) => (await run(...args, '--json')).json
  return { sandbox, folder, run, json }
}
