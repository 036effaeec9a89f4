import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, onTestFinished } from 'vitest'
import { paths, pathsIn } from '../../config/paths.ts'
import type { Testbed, TestRun } from '../../src/testing/index.ts'

/** A new folder for each test, which samples write to instead of the app's data directory. */
interface OutputFolder {
  readonly path: string
  /** Changes to another new folder. */
  renew(): void
  /** Content of a JSON file in the folder, or null. */
  document(...path: string[]): Record<string, unknown> | null
  /** Paths of all files in the folder, sorted. */
  written(): string[]
}

/** Call it at the top of a test file. */
export function useOutput(): OutputFolder {
  const before = { ...paths }
  const folders: string[] = []
  const current = () => folders.at(-1) ?? ''
  const renew = () => {
    folders.push(mkdtempSync(join(tmpdir(), 'upshot-output-')))
    Object.assign(paths, pathsIn(current()))
  }
  beforeEach(renew)
  afterEach(() => {
    Object.assign(paths, before)
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  return {
    get path() {
      return current()
    },
    renew,
    document(...parts) {
      const file = join(current(), ...parts)
      return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
    },
    written: () =>
      readdirSync(current(), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(current().length + 1))
        .sort(),
  }
}

/** Overrides values of a sample's configuration until the test is over. */
export function override<T extends object>(config: T, values: Partial<T>): void {
  const before = { ...config }
  Object.assign(config, values)
  onTestFinished(() => void Object.assign(config, before))
}

/** Sends an event and returns its run a day later, when all retries are over. */
export async function follow(t: Testbed, event: Parameters<Testbed['send']>[0]): Promise<TestRun> {
  const { runs } = await t.send(event)
  await t.advance('1d')
  const run = t.runs().find(({ id }) => id === runs[0]?.id)
  if (!run) throw new Error('the event started no run')
  return run
}

/** Output of a completed run. Throws for any other status. */
export function outputOf(run: TestRun): unknown {
  if (run.status !== 'completed') throw new Error(`the run is ${run.status}: ${run.reason ?? run.error?.message}`)
  return run.output
}
