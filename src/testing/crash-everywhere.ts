import { isDeepStrictEqual } from 'node:util'
import { type CrashFate, CrashPoint } from './engine/crash-point.ts'
import { maskIds } from './mask-ids.ts'
import type { TestbedOptions } from './options.ts'
import { Testbed } from './testbed.ts'

export interface CrashReport<Value> {
  /** Journal writes of the scenario when nothing crashes. */
  writes: number
  /** How often it was repeated with a crash. */
  crashes: number
  /** What the scenario returned, each time. */
  value: Value
}

/**
 * Plays a scenario on fresh testbeds: once as it is, then twice for each write of the journal. The
 * engine dies there, once before the commit and once right after it, starts again and goes on. The
 * scenario holds its assertions; what it returns must be the same each time, but for ids. Throws an
 * error that names the write at which either did not hold.
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
    `crashed at write ${at} of ${writes}: ${crash.struckAt}, ${fate === 'lost' ? 'before' : 'after'} the commit`
  const value = await play(options, crash, scenario).catch((cause: unknown) => {
    if (crash.struckAt === null) throw cause
    throw new Error(`${place()}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  })
  if (crash.struckAt === null) {
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
