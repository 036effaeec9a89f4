import type { EffectRecord } from '../effect.ts'

/** A call of author's code past what the guard and the ledger see. Never the path of a request. */
export interface OutsideAct {
  /** Epoch milliseconds. */
  at: number
  /** Such as `fetch POST`, `connect` or `child process`. */
  call: string
  /**
   * `outside`: of every step; `after`: the end of its step. `in_read`: in a step that declares only
   * reads. `on_load`: a module's own. `past_files`: of the service, in a step. `unseen`: a process
   * or thread in a step. `refused`: a delete that was not sent.
   */
  where: 'outside' | 'after' | 'in_read' | 'in_effect' | 'on_load' | 'past_files' | 'unseen' | 'refused'
  /** Host that it asks; null where it asks none, or that is unknown. */
  host: string | null
  /** File, line and column of the code; null where the stack does not tell. */
  place: string | null
  /** Null while modules are loaded. */
  run: string | null
  workflow: string | null
  /** Null outside steps. */
  step: string | null
}

/** A call that leaves author's code. */
export interface OutsideCall {
  /** `fetch`, `http`, `http2`, `connect`, `udp`, `child process` or `worker thread`. */
  way: string
  /** Of an HTTP request; null for a connection, which a read may open; undefined for all else. */
  method?: string | null
  /** Host that it asks, with the port where that is not the protocol's; null: none, or unknown. */
  host?: string | null
}

/** The run whose code calls. */
export type CallingRun = { run: string; workflow: string }

/** The place of a call in words. */
const PLACES: Record<OutsideAct['where'], string> = {
  outside: 'outside of every step',
  after: 'after the end of its step',
  in_read: 'in a step that declares only reads',
  in_effect: 'in its step',
  on_load: 'by itself, outside of every run',
  past_files: 'past `files`',
  unseen: 'and nobody sees what that does',
  refused: 'past `files`, and was refused',
}

/** The call that a row of the ledger tells of, in words; null for any other row. */
export function readAct({ phase, operation, target, outcome, proof }: NotedRow): string | null {
  if (phase !== 'noted' || outcome === null || !Object.hasOwn(PLACES, outcome)) return null
  const host = target === null ? '' : ` to ${target}`
  return `${operation}${host} ${PLACES[outcome as OutsideAct['where']]}${proof === null ? '' : `, at ${proof}`}`
}

type NotedRow = Pick<EffectRecord, 'phase' | 'operation' | 'target' | 'outcome' | 'proof'>

/** A row of the ledger that tells of such a call. */
export function describeAct({ at, call, where, host, place, run, workflow, step }: OutsideAct) {
  const phase = 'noted' as const
  return { at, phase, operation: call, target: host, workflow, runId: run, step, outcome: where, proof: place }
}
