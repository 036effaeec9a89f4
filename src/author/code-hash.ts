import { hash } from 'node:crypto'
import type { AnyWorkflow } from './workflow.ts'

/**
 * The code of a workflow as far as it is known: a module by its files, one that was made in place
 * by its function.
 */
export function codeHashOf(workflow: AnyWorkflow): string {
  const known = workflow.codeHash ?? inPlace.get(workflow.run)
  if (known !== undefined) return known
  const digested = digest(String(workflow.run))
  inPlace.set(workflow.run, digested)
  return digested
}

/** Hashes of functions without a file, which are asked for in every pass. */
const inPlace = new WeakMap<AnyWorkflow['run'], string>()

export function digest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16)
}
