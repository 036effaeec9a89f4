import { hash } from 'node:crypto'
import type { AnyWorkflow } from './workflow.ts'

/**
 * Hash of a workflow's module and the files that it imports, or of its function's text. The hash
 * may change when behaviour does not; alone it never parks a run.
 */
export function codeHashOf(workflow: AnyWorkflow): string {
  const known = workflow.codeHash ?? knownHashes.get(workflow.run)
  if (known !== undefined) return known
  const digested = digest(String(workflow.run))
  knownHashes.set(workflow.run, digested)
  return digested
}

/** Hashes of functions without a file; a cache, because every pass asks for them. */
const knownHashes = new WeakMap<AnyWorkflow['run'], string>()

/** The first 16 hexadecimal digits (64 bits) of a text's SHA-256. */
export function digest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16)
}
