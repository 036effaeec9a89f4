import { AsyncLocalStorage } from 'node:async_hooks'
import type { Effect } from '../../core/runs/step.ts'
import { findCallSite } from './find-call-site.ts'
import type { Pass } from './pass.ts'

/** The attempt of a step whose function is running. */
export interface CurrentStep {
  key: string
  attempt: number
  /** The run's time when the attempt began. */
  now: number
  /** Draws of `random()` and `uuid()` so far. */
  draws: number
  effect: Effect
  /** True once the attempt has ended. Work that its function began may still go on. */
  isOver: boolean
  /** Called at the end of the attempt. */
  onOver?: () => void
}

/** The run that the thread works for, its pass, and the step inside whose function it is. */
interface Scope {
  run: string
  /** Null before its code is called. */
  pass: Pass | null
  step: CurrentStep | null
}

const scopes = new AsyncLocalStorage<Scope | null>()

/** Calls what works for a run, admission included, so that {@link findCodeAtWork} names it. */
export function runForRun<T>(run: string, call: () => T): T {
  return scopes.run({ run, pass: null, step: null }, call)
}

/** Calls the author's function, so that {@link currentPass} finds its pass in all that it does. */
export function runInPass<T>(pass: Pass, call: () => T): T {
  return scopes.run({ run: pass.run.lease.runId, pass, step: null }, call)
}

/** Calls a step's function, so that {@link currentStep} finds it in everything that it does. */
export function runInStep<T>(pass: Pass, step: CurrentStep, call: () => T): T {
  return scopes.run({ run: pass.run.lease.runId, pass, step }, call)
}

/** Calls code of ours in the name of no run: nothing that it does is the author's. */
export function runOutside<T>(call: () => T): T {
  return scopes.run(null, call)
}

/** The step of this pass whose function calls; null in the code outside steps. */
export function currentStep(pass: Pass): CurrentStep | null {
  const scope = scopes.getStore()
  return scope && scope.pass === pass ? scope.step : null
}

/** The step whose function calls, in any pass; null in code outside steps. */
export function stepAtWork(): CurrentStep | null {
  return scopes.getStore()?.step ?? null
}

/** The pass whose code calls; null outside the code of authors. */
export function currentPass(): Pass | null {
  return scopes.getStore()?.pass ?? null
}

/** The run that a thread works for, and where its code is. */
export interface CodeAtWork {
  run: string
  /** File, line and column; null where no code of authors is on the stack. */
  place: string | null
}

/** The run and place of the code that is interrupted; null where the thread works for no run. */
export function findCodeAtWork(): CodeAtWork | null {
  const scope = scopes.getStore()
  return scope ? { run: scope.run, place: findCallSite() } : null
}
