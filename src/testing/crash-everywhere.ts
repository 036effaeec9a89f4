import { isDeepStrictEqual } from 'node:util'
import { type CrashFate, CrashPoint } from './engine/crash-point.ts'
import { maskIds } from './mask-ids.ts'
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

/**
 * Repeats a scenario with a crash before and after each journal write. Throws if it fails or
 * returns another value, apart from ids.
 */
export async function crashEverywhere<Value>(
  options: TestbedOptions,
  scenario: (t: Testbed) => Value | Promise<Value>,
): Promise<CrashReport<Value>> {
  const calm = new CrashPoint(0, 'kept')
  const value = await play(options, calm, scenario)
  const writes = calm.writes.length
  for (let at = 1; at <= writes; at++) {
    for (const fate of ['lost', 'kept'] as const) await crashOnce({ options, scenario, at, fate, writes, value })
  }
  return { writes, crashes: writes * 2, value }
}

async function crashOnce<Value>(trial: {
  options: TestbedOptions
  scenario: (t: Testbed) => Value | Promise<Value>
  at: number
  fate: CrashFate
  writes: number
  value: Value
}): Promise<void> {
  const { options, scenario, at, fate, writes } = trial
  const crash = new CrashPoint(at, fate)
  const place = () =>
    `crashed at write ${at} of ${writes}: ${crash.killedAt}, ${fate === 'lost' ? 'before' : 'after'} the commit`
  const value = await play(options, crash, scenario).catch((cause: unknown) => {
    if (crash.killedAt === null) throw cause
    throw new Error(`${place()}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  })
  if (crash.killedAt === null) {
    throw new Error(`write ${at} of ${writes} never came: the scenario does not do the same each time`)
  }
  const [expected, actual] = [maskIds(trial.value), maskIds(value)]
  if (isDeepStrictEqual(actual, expected)) return
  throw new Error(`${place()}: the scenario returned ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
}

async function play<Value>(
  options: TestbedOptions,
  crash: CrashPoint,
  scenario: (t: Testbed) => Value | Promise<Value>,
): Promise<Value> {
  await using t = await Testbed.open(options, crash)
  return await scenario(t)
}
