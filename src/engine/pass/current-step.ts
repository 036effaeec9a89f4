import { AsyncLocalStorage } from 'node:async_hooks'
import type { Pass } from './pass.ts'

/** The attempt of a step whose function is running. */
export interface CurrentStep {
  pass: Pass
  key: string
  attempt: number
  /** The run's time when the attempt began. */
  now: number
  /** Draws of `random()` and `uuid()` so far. */
  draws: number
}

const running = new AsyncLocalStorage<CurrentStep>()

/** Calls a step's function, so that {@link currentStep} finds it in everything that it does. */
export function runInStep<T>(step: CurrentStep, call: () => T): T {
  return running.run(step, call)
}

/** The step of this pass whose function calls; undefined in the code outside steps. */
export function currentStep(pass: Pass): CurrentStep | undefined {
  const step = running.getStore()
  return step?.pass === pass ? step : undefined
}
