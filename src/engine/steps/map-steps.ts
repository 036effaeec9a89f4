import type { OnceStepOptions, StepContext } from '../../author/step-api.ts'
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

  // An item that failed in an earlier pass fails the map again, before any other item begins.
  const hasFailedBefore = reached.some(({ known }) => known?.status === 'failed')
  const ends: StepEnd<T>[] = []
  // Outcomes of earlier passes come in their own order, so no lane may keep one of them waiting.
  const repeats = reached.map(async (step, index) => {
    if (isRepeated(step)) ends[index] = await driveStep(pass, step, neverSettles, options)
  })
  if (hasFailedBefore) {
    await Promise.all(repeats)
    return collect(ends)
  }

  const fresh = [...reached.keys()].filter((index) => !isRepeated(at(reached, index)))
  let next = 0
  let hasFailed = false
  const lane = async () => {
    while (next < fresh.length && !hasFailed) {
      const index = at(fresh, next++)
      const item = at(items, index)
      const request = { ...options, ...(dry && { dry: () => dry(item) }) }
      const end = await driveStep(pass, at(reached, index), (context) => fn(item, context), request)
      ends[index] = end
      hasFailed ||= end.kind === 'failed'
    }
  }
  await Promise.all([...repeats, ...Array.from({ length: Math.min(parallel, fresh.length) }, lane)])
  if (!hasFailed) await resumeAll(ends)
  return collect(ends)
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

/** Awaits the next attempts of parked items, which do not come in a pass that ends before them. */
async function resumeAll<T>(ends: StepEnd<T>[]): Promise<void> {
  const resume = async (index: number) => {
    for (let end = at(ends, index); end.kind === 'parked'; end = at(ends, index)) ends[index] = await end.resumed
    const end = at(ends, index)
    if (end.kind === 'failed') throw end.error
  }
  await Promise.all([...ends.keys()].map(resume))
}

/** All results in order. Throws the first failure; never settles while an item is parked. */
function collect<T>(ends: readonly StepEnd<T>[]): T[] | Promise<never> {
  const failed = ends.find((end) => end?.kind === 'failed')
  if (failed?.kind === 'failed') throw failed.error
  const values: T[] = []
  for (const end of ends) {
    if (end.kind !== 'completed') return neverSettles()
    values.push(end.value)
  }
  return values
}

function isRepeated({ known }: ReachedStep): boolean {
  return known !== undefined && isFinished(known)
}

function at<T>(list: readonly T[], index: number): T {
  return list[index] as T
}
