import type { OnceStepOptions, StepContext } from '../../author/steps/step-api.ts'
import { UpshotError } from '../../core/errors.ts'
import { isFinished } from '../../core/runs/step.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import { type ReachedStep, reachStep } from './reach-step.ts'
import { driveStep, type StepEnd } from './run-step.ts'

const DEFAULT_PARALLEL = 8

interface MapRequest<Item, T> {
  items: Iterable<Item>
  keyOf: (item: Item, index: number) => string | number
  fn: (item: Item, context: StepContext) => T | Promise<T>
  options: OnceStepOptions & { parallel?: number; dry?: (item: Item) => unknown }
}

/**
 * Runs a step for each item, `parallel` at a time; a parked item makes room for the next one. All
 * items are reached at once and in order, so that a replay meets the same keys. Of an endless list,
 * one item more is taken than a run may have steps.
 */
export async function mapSteps<Item, T>(pass: Pass, name: string, request: MapRequest<Item, T>): Promise<T[]> {
  const { fn } = request
  const { parallel = DEFAULT_PARALLEL, dry, ...options } = request.options
  if (!Number.isInteger(parallel) || parallel < 1) {
    throw new UpshotError('invalid_workflow', `step.map "${name}": \`parallel\` must be a positive integer.`)
  }
  const items = [...Iterator.from(request.items).take(pass.maxSteps + 1)]
  const reached = reachItems(pass, name, listKeys(name, items, request.keyOf), options)
  if (!reached) return neverSettles()

  const { promise, resolve, reject } = Promise.withResolvers<T[]>()
  const values: T[] = []
  let left = items.length
  if (left === 0) resolve(values)
  const parts = pass.progress.count(name, items.length)
  // After a failure of an earlier pass, nothing begins until it comes again.
  let hasFailed = reached.some(({ known }) => known?.status === 'failed')
  /** Awaits all attempts of an item. Like `Promise.all`, the map fails with the first to fail. */
  const follow = async (index: number, begun: Promise<StepEnd<T>>): Promise<void> => {
    let end = await begun
    while (end.kind === 'parked') {
      await end.due
      if (hasFailed) return
      end = await end.resume()
    }
    hasFailed ||= end.kind === 'failed'
    if (end.kind === 'failed') {
      parts.failed()
      return reject(end.error)
    }
    parts.done()
    values[index] = end.value
    if (--left === 0) resolve(values)
  }
  const begin = (index: number): Promise<StepEnd<T>> => {
    const item = at(items, index)
    const request = { ...options, ...(dry && { dry: () => dry(item) }) }
    const begun = driveStep(pass, at(reached, index), (context) => fn(item, context), request)
    follow(index, begun).catch(reject)
    return begun
  }
  const fresh: number[] = []
  // Outcomes of earlier passes come in their own order, so no lane may keep one of them waiting.
  for (const [index, step] of reached.entries()) {
    if (isRepeated(step)) void begin(index)
    else fresh.push(index)
  }
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < fresh.length && !hasFailed) await begin(at(fresh, next++))
  }
  for (let each = 0; each < parallel && each < fresh.length; each++) lane().catch(reject)
  return promise
}

function listKeys<Item>(name: string, items: readonly Item[], keyOf: MapRequest<Item, unknown>['keyOf']): string[] {
  const keys = items.map((item, index) => String(keyOf(item, index)))
  const seen = new Set<string>()
  for (const key of keys) {
    if (seen.has(key)) {
      throw new UpshotError(
        'invalid_workflow',
        `step.map "${name}": two items have the key "${key}". Keys must differ.`,
      )
    }
    seen.add(key)
  }
  return keys
}

function reachItems(
  pass: Pass,
  name: string,
  keys: readonly string[],
  { effect = 'write' }: OnceStepOptions,
): ReachedStep[] | null {
  const reached: ReachedStep[] = []
  for (const key of keys) {
    const item = reachStep(pass, [name, key], 'run', effect)
    if (!item) return null
    reached.push(item)
  }
  return reached
}

function isRepeated({ known }: ReachedStep): boolean {
  return known !== undefined && isFinished(known)
}

function at<T>(list: readonly T[], index: number): T {
  return list[index] as T
}
