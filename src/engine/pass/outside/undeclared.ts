import { findCallSite } from '../find-call-site.ts'
import { currentPass, stepAtWork } from '../scope.ts'

/** Something that author's code did outside where its effect is declared. */
export interface UndeclaredEffect {
  /** Such as `fetch POST` or `connect`. */
  call: string
  /** The step whose function called; null outside steps. */
  step: string | null
  /**
   * `outside`: of every step; `after`: the end of its step. `in_read`: in a step that declares only
   * reads; `in_effect`: in one that may not begin here. `on_load`: outside of every run.
   */
  where: 'outside' | 'after' | 'in_read' | 'in_effect' | 'on_load'
  /** The run whose code called; null while a module is loaded. */
  run: string | null
  /** File, line and column of the call; null where the stack does not tell. */
  place: string | null
}

/** Methods that change nothing, by HTTP's own word. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * The call that is made now, where nothing declares it; null where a step does. `method`: of an
 * HTTP request; null for a connection, which a read may open; undefined for all else.
 */
export function findUndeclared(call: string, method?: string | null): UndeclaredEffect | null {
  const where = whereNow(method)
  const run = currentPass()?.run.lease.runId ?? null
  return where && { call, run, step: stepAtWork()?.key ?? null, where, place: findCallSite() }
}

/** The place in the run of a call that is made now; null where a read declares it. */
export function whereNow(method: string | null | undefined): UndeclaredEffect['where'] | null {
  const step = stepAtWork()
  if (currentPass() === null) return 'on_load'
  if (step === null) return 'outside'
  if (step.isOver) return 'after'
  if (step.effect !== 'read') return 'in_effect'
  const isRead = method === null || (method !== undefined && SAFE_METHODS.has(method))
  return isRead ? null : 'in_read'
}

const PLACES: Record<UndeclaredEffect['where'], string> = {
  outside: 'outside of every step',
  after: 'after the end of',
  in_read: 'in the read',
  in_effect: 'in',
  on_load: 'outside of every run',
}

/** The effect in words, such as `fetch POST in the read step "look"`. */
export function describeUndeclared({ call, step, where }: UndeclaredEffect): string {
  return `${call} ${PLACES[where]}${step === null ? '' : ` step "${step}"`}`
}
