import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CHILD_ENVIRONMENT } from './child-environment.ts'
import { APP } from './program.ts'
import { startGroup } from './start-group.ts'
import { tempFolder } from './temp-folder.ts'

const FREE_PORTS = {
  UPSHOT_PORT: '0',
  UPSHOT_ADMIN_PORT: '0',
  UPSHOT_SANDBOX_PORT: '0',
  UPSHOT_SANDBOX_DOWNLOAD_PORT: '0',
}

type Line = Record<string, unknown>

/** Writes these modules into `workflows` of a project folder. */
export function makeProject(modules: Record<string, string>, root = tempFolder()): string {
  mkdirSync(join(root, 'workflows'), { recursive: true })
  for (const [file, text] of Object.entries(modules)) writeFileSync(join(root, 'workflows', file), text)
  return root
}

/** Starts the real process in a new project folder with these modules. */
export function startProcess(modules: Record<string, string> = {}, environment: Record<string, string> = {}) {
  return startIn(makeProject(modules), environment)
}

/** Starts the real process in a project folder. It is killed after the test. */
export function startIn(root: string, environment: Record<string, string> = {}, args: readonly string[] = []) {
  const child = startGroup(process.execPath, [APP, ...args], {
    cwd: root,
    env: { ...CHILD_ENVIRONMENT, ...FREE_PORTS, ...environment },
  })
  const lines: Line[] = []
  const waiting: { fits: (line: Line) => boolean; resolve: (line: Line) => void }[] = []
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text)
    lines.push(line)
    for (const { fits, resolve } of waiting) if (fits(line)) resolve(line)
  })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  return {
    root,
    child,
    lines,
    errors: () => errors,
    // Not its exit, at which the last lines may still be in the pipe.
    exited: once(child, 'close').then(([code, signal]) => ({ code, signal })),
    /** The first log line that fits, already written or still to come. */
    line: (fits: (line: Line) => boolean) =>
      new Promise<Line>((done) => {
        const known = lines.find(fits)
        if (known) done(known)
        else waiting.push({ fits, resolve: done })
      }),
  }
}
