import type { StepApi } from '../../author/steps/step-api.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { equipWorkflow } from './replaced-steps.ts'

type Verb = (...given: unknown[]) => unknown
type AnyFunction = (...given: never[]) => unknown

/** The step functions of authors that are running now. */
export class WorkUnderWay {
  readonly #functions = new Set<Promise<unknown>>()
  /** Called when the function of a step that may be repeated has begun and awaits something. */
  onMiddle = (_step: string) => {}

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
      (...given: unknown[]) => {
        const place = isRepeatable(given.at(-1)) ? String(given[0]) : null
        return (verb as Verb)(...given.map((each) => (isFunction(each) ? this.#watchFunction(each, place) : each)))
      },
    ])
    return Object.fromEntries(verbs)
  }

  /** `place`: the step, where its function may be cut off and repeated. */
  #watchFunction(fn: AnyFunction, place: string | null): AnyFunction {
    return (...given) => {
      const result = fn(...given)
      if (result instanceof Promise) {
        const ended = result.catch(() => {}).finally(() => this.#functions.delete(ended))
        this.#functions.add(ended)
        if (place !== null) this.onMiddle(place)
      }
      return result
    }
  }
}

/** A step with `once` does not run again after a death: cutting it off says nothing. */
function isRepeatable(options: unknown): boolean {
  return !(typeof options === 'object' && options !== null && 'once' in options && options.once === true)
}

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function'
}
