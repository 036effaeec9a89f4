import { UpshotError } from '../../../core/errors.ts'
import { describeUndeclared, findUndeclared, type UndeclaredEffect } from '../../../engine/pass/outside/undeclared.ts'

type Call = (...given: never[]) => unknown
type Owner = Record<string, unknown>

let refused: UndeclaredEffect[] = []
/** Whether steps that read may also send what cannot be judged, such as a POST that only asks. */
let trustsReads = false

/** The refused calls of a run since the last call for it. */
export function takeRefused(run: string): UndeclaredEffect[] {
  const taken = refused.filter((each) => each.run === run)
  refused = refused.filter((each) => each.run !== run)
  return taken
}

/**
 * A request, or something that cannot be judged. Null: nothing is sent yet, so a read may. Absent:
 * it is no matter of the network, so no step may.
 */
type Sends = { method: string } | 'network' | null | undefined

/** The call that is made now, noted as refused; null where a step declares it. */
export function note(call: string, sends?: Sends): UndeclaredEffect | null {
  const method = sends === 'network' ? undefined : (sends?.method ?? (sends as null | undefined))
  const found = findUndeclared(call, method)
  if (found?.where === 'in_read' && trustsReads && sends !== undefined) return null
  if (found !== null) refused.push(found)
  return found
}

/** Throws where nothing declares the call. */
export function ask(call: string, sends?: Sends): void {
  const found = note(call, sends)
  if (found !== null) throw describeRefusal(found, sends)
}

export function describeRefusal(found: UndeclaredEffect, sends: Sends): UpshotError {
  const place = found.place === null ? '' : ` at ${found.place}`
  const why = sends === 'network' ? ', for what it sends cannot be judged' : ''
  const fix = found.where === 'in_read' && sends != null ? ' Where it only reads, add --trust-reads.' : ''
  return new UpshotError('undeclared_effect', `${describeUndeclared(found)} is refused${place}${why}.${fix}`)
}

export function replace(owner: object, name: string, wrap: (real: Call) => Call): void {
  const holder = owner as Owner
  const real = holder[name]
  if (typeof real === 'function') holder[name] = wrap(real as Call)
}

/** Refuses a function wherever it is called, even in a step that reads. */
export function refuse(owner: object, names: readonly string[], of: string): void {
  for (const name of names) {
    replace(owner, name, () => () => ask(`${of}${name}`))
  }
}

/** Asks before a function is called. */
export function askBefore(owner: object, names: readonly string[], { of, sends }: { of: string; sends: Sends }): void {
  for (const name of names) {
    replace(
      owner,
      name,
      (real) =>
        function (this: unknown, ...given) {
          ask(`${of}${name}`, sends)
          return real.apply(this, given)
        },
    )
  }
}

/** Lets steps that read send anything. */
export function trustReads(): void {
  trustsReads = true
}

/** Notes a refusal of Node itself, but for those of Node's own attempts. */
export function noteRefusal(call: string): void {
  const found = findUndeclared(call)
  if (found !== null && (found.run !== null || found.place !== null)) refused.push(found)
}
