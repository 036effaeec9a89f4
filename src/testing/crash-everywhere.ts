import { isDeepStrictEqual } from 'node:util'
import type { AnyWorkflow } from '../author/workflow.ts'
import { type CrashFate, CrashPoint } from './engine/crash-point.ts'
import type { TestbedOptions } from './options.ts'
import { Testbed } from './testbed.ts'

/** The result of a scenario that held at every crash. */
export interface CrashReport<Value> {
  /** Journal writes of the scenario without a crash. */
  writes: number
  /** Repetitions with a crash. */
  crashes: number
  /** The value that the scenario returned each time. */
  value: Value
}

/** Options of {@link crashEverywhere}, beside those of the testbed. */
export interface CrashOptions {
  /**
   * Workflows of the engine that starts after the crash, as after a deployment. Values and effects
   * are then not compared, because changed code may change them. Default: the same workflows.
   */
  deploy?: readonly AnyWorkflow[]
  /** False: effects may differ, as after a step with `once` whose end is unknown. Default true. */
  compareEffects?: boolean
}

type Scenario<Value> = (t: Testbed) => Value | Promise<Value>

/** A scenario that ran to its end. */
interface Outcome<Value> {
  value: Value
  /** Every finished step that wrote or deleted, without what differs from trial to trial. */
  effects: unknown
}

interface Trial<Value> {
  options: TestbedOptions
  scenario: Scenario<Value>
  crashOptions: CrashOptions
  calm: Outcome<Value>
}

/**
 * Repeats a scenario with a crash before and after each journal write, and in the middle of each
 * step. Only a function that awaits something has a middle. Throws if the scenario fails, or
 * differs in its value or its effects, apart from ids.
 */
export async function crashEverywhere<Value>(
  options: TestbedOptions,
  scenario: Scenario<Value>,
  crashOptions: CrashOptions = {},
): Promise<CrashReport<Value>> {
  const undisturbed = new CrashPoint(0, 'kept')
  const calm = await tryOut(options, undisturbed, { scenario })
  const writes = undisturbed.writes.length
  const middles = undisturbed.middles.length
  const trial = { options, scenario, crashOptions, calm }
  for (let at = 1; at <= writes; at++) {
    for (const fate of ['lost', 'kept'] as const) await crashOnce(trial, { at, of: writes, fate })
  }
  for (let at = 1; at <= middles; at++) await crashOnce(trial, { at, of: middles, fate: 'cut' })
  return { writes, crashes: writes * 2 + middles, value: calm.value }
}

async function crashOnce<Value>(
  { options, scenario, crashOptions, calm }: Trial<Value>,
  { at, of, fate }: { at: number; of: number; fate: CrashFate },
): Promise<void> {
  const { deploy, compareEffects = true } = crashOptions
  const crash = new CrashPoint(at, fate)
  const place = () => describePlace(crash, { at, of, fate })
  const tried = await tryOut(options, crash, { scenario, deploy }).catch((cause: unknown) => {
    if (crash.killedAt === null) throw cause
    throw new Error(`${place()}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  })
  if (crash.killedAt === null) {
    const what = fate === 'cut' ? 'middle' : 'write'
    throw new Error(`${what} ${at} of ${of} never came: the scenario does not do the same each time`)
  }
  if (deploy) return
  compare(`${place()}: the scenario returned`, tried.value, calm.value)
  if (compareEffects) compare(`${place()}: the effects were`, tried.effects, calm.effects)
}

function compare(what: string, actual: unknown, expected: unknown): void {
  const [masked, wanted] = [maskIds(actual), maskIds(expected)]
  if (isDeepStrictEqual(masked, wanted)) return
  throw new Error(`${what} ${JSON.stringify(masked)} instead of ${JSON.stringify(wanted)}`)
}

function describePlace({ killedAt }: CrashPoint, { at, of, fate }: { at: number; of: number; fate: CrashFate }) {
  if (fate === 'cut') return `crashed in ${killedAt}, ${at} of ${of}`
  return `crashed at write ${at} of ${of}: ${killedAt}, ${fate === 'lost' ? 'before' : 'after'} the commit`
}

async function tryOut<Value>(
  options: TestbedOptions,
  crash: CrashPoint,
  { scenario, deploy }: { scenario: Scenario<Value>; deploy?: readonly AnyWorkflow[] | undefined },
): Promise<Outcome<Value>> {
  await using t = await Testbed.open(options, { crash, deploy })
  const value = await scenario(t)
  return { value, effects: listEffects(t) }
}

/** Sorted, because branches that work at the same time may finish in another order. */
function listEffects(t: Testbed): unknown {
  const effects = t
    .effects()
    .map(({ workflow, key, effect, status, target }) => [workflow, key, effect, status, target])
  return effects.map((effect) => JSON.stringify(maskIds(effect))).sort()
}

/** Ids of Upshot and the sandbox, which differ in each repetition. */
const MADE_ID = /\b(?:[a-z]{3}_)?[0-9a-hjkmnp-tv-z]{23}\b/g

/** A copy whose ids are numbered: the first id becomes `id#1` wherever it occurs. */
function maskIds(value: unknown): unknown {
  const names = new Map<string, string>()
  const mask = (text: string) =>
    text.replace(MADE_ID, (id) => {
      const name = names.get(id) ?? `id#${names.size + 1}`
      names.set(id, name)
      return name
    })
  const copy = (part: unknown): unknown => {
    if (typeof part === 'string') return mask(part)
    if (Array.isArray(part)) return part.map(copy)
    if (!isPlain(part)) return part
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [mask(key), copy(each)]))
  }
  return copy(value)
}

function isPlain(part: unknown): part is Record<string, unknown> {
  return typeof part === 'object' && part !== null && Object.getPrototypeOf(part) === Object.prototype
}
