import type { StepApi } from '../../author/step-api.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { equipWorkflow } from './equip-workflow.ts'

type Verb = (...given: unknown[]) => unknown
type AnyFunction = (...given: never[]) => unknown

/** The step functions of authors that are running now. */
export class WorkUnderWay {
  readonly #functions = new Set<Promise<unknown>>()

  /** The workflow with its step functions tracked. */
  watch(workflow: AnyWorkflow): AnyWorkflow {
    return equipWorkflow(workflow, (step) => this.#watchVerbs(step))
  }

  /** Resolves when no step function is running, or after `patienceMs` of real time. */
  async end(patienceMs: number): Promise<void> {
    const patience = Promise.withResolvers<void>()
    const timer = setTimeout(patience.resolve, patienceMs)
    await Promise.race([Promise.allSettled(this.#functions), patience.promise])
    clearTimeout(timer)
    this.#functions.clear()
  }

  #watchVerbs(step: StepApi): StepApi {
    const verbs = Object.entries(step).map(([name, verb]) => [
      name,
      (...given: unknown[]) =>
        (verb as Verb)(...given.map((each) => (isFunction(each) ? this.#watchFunction(each) : each))),
    ])
    return Object.fromEntries(verbs)
  }

  #watchFunction(fn: AnyFunction): AnyFunction {
    return (...given) => {
      const result = fn(...given)
      if (result instanceof Promise) {
        const ended = result.catch(() => {}).finally(() => this.#functions.delete(ended))
        this.#functions.add(ended)
      }
      return result
    }
  }
}

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function'
}
