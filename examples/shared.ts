import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Testbed } from 'upshot/testing'

/** Prints a line of what an example shows. */
export type Say = (line: string) => void

/** Puts a file into `storage_a` and transfers it to `storage_b`. Returns the event of its end. */
export async function transfer(t: Testbed, path: string, content: string, options: { failAt?: number } = {}) {
  await t.storage('storage_a').put(path, content)
  const sandbox = await t.sandbox()
  const { done } = await sandbox.transfers.start({ from: ['storage_a', path], to: ['storage_b', path], ...options })
  const { status } = await done
  return t.emitted(`transfer.${status}`)
}

/** Says how each run stands, with its steps. */
export function tellRuns(t: Testbed, say: Say): void {
  for (const run of t.runs()) {
    say(`${run.workflow}: ${run.status}${run.reason === null ? '' : `, ${run.reason}`}`)
    for (const step of run.steps().slice(0, 5)) say(`  ${step.key}: ${step.status}`)
  }
}

/** The paths of a storage's files. */
export async function pathsOf(t: Testbed, storage: 'storage_a' | 'storage_b'): Promise<string[]> {
  const entries = await t.storage(storage).list()
  return entries.filter(({ type }) => type === 'file').map(({ path }) => path)
}

/** A folder that goes when the example ends. */
export async function scratchFolder() {
  const path = await mkdtemp(join(tmpdir(), 'upshot-example-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
