import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeError } from '../src/core/errors.ts'
import type { Bench, Suite } from './bench.ts'
import { killChildren, startTarget } from './child.ts'
import { type DeliveryFile, writeDeliveries } from './deliveries.ts'
import type { LoadGenerator } from './load.ts'
import { startSenders } from './load-node.ts'
import { findWrk } from './load-wrk.ts'
import { describeMachine, type Machine, measureSpeed } from './machine.ts'
import { createPatience } from './patience.ts'
import type { Result } from './result.ts'
import { claim } from './suites/claim.ts'
import { download } from './suites/download.ts'
import { engine } from './suites/engine.ts'
import { growth } from './suites/growth.ts'
import { ingest } from './suites/ingest.ts'
import { receive } from './suites/receive.ts'
import { replay } from './suites/replay.ts'
import { sandbox } from './suites/sandbox.ts'
import { start } from './suites/start.ts'

const SUITES: readonly Suite[] = [ingest, receive, growth, start, engine, claim, replay, download, sandbox]

/** Enough for the longest burst, and for all bursts together that may not repeat a delivery. */
const DELIVERIES = { quick: 600_000, full: 3_300_000 }

/** How long all rounds together wait for other work on the machine to pause. */
const PATIENCE_MS = { quick: 10_000, full: 120_000 }

const OPTIONS = {
  help: { type: 'boolean', default: false },
  /** Under two minutes instead of ten. */
  quick: { type: 'boolean', default: false },
  /** Where the report goes as JSON. */
  json: { type: 'string' },
  /** Only results whose names begin like this. */
  only: { type: 'string', default: '' },
  /** Sends with Node processes even where wrk is installed. */
  'node-load': { type: 'boolean', default: false },
  /** Writes a CPU profile of each server into this folder. */
  profile: { type: 'string' },
} as const

const options = readOptions()

// In the project's folder and not in the system's temporary one, which may lie in memory: there a
// commit costs nothing.
const folder = mkdtempSync(join(import.meta.dirname, 'tmp-'))
process.on('exit', () => {
  killChildren()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

await using load = await chooseLoad()
const machine = describeMachine(folder, load.name)
say(describe(machine))
const results = await runSuites()
const bodiesPerMsAfter = measureSpeed()
report(results)
say(`\none core parses ${bodiesPerMsAfter} bodies in a millisecond by now, ${machine.bodiesPerMs} before`)
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify({ machine: { ...machine, bodiesPerMsAfter }, results }, null, 2)}\n`)
process.exitCode = results.every(isGoodEnough) ? 0 : 1

/**
 * What cannot be read, or names nothing, ends it here: a benchmark of something else helps nobody.
 */
function readOptions() {
  try {
    const { values } = parseArgs({ options: OPTIONS })
    const isKnown = SUITES.some(({ names }) => names.some((name) => name.startsWith(values.only)))
    if (!isKnown) throw new Error(`No result has a name that begins with "${values.only}".`)
    if (!values.help) return values
    say(describeUsage())
    process.exit(0)
  } catch (error) {
    process.stderr.write(`${describeError(error).message}\n${describeUsage()}\n`)
    process.exit(2)
  }
}

function describeUsage(): string {
  const suites = SUITES.map(({ names }) => `  ${names.join(' ')}`)
  return [`Options: --${Object.keys(OPTIONS).join(', --')}`, 'Results, for --only:', ...suites].join('\n')
}

/**
 * A full run must hold every goal. A quick one, often beside other work, reports them all and fails
 * where one could not be measured.
 */
function isGoodEnough({ holds, value }: Result): boolean {
  return holds || (options.quick && Number.isFinite(value))
}

async function chooseLoad(): Promise<LoadGenerator> {
  return (options['node-load'] ? null : findWrk(folder)) ?? (await startSenders())
}

async function runSuites(): Promise<Result[]> {
  const isAskedFor = (name: string) => name.startsWith(options.only)
  let deliveries: DeliveryFile | undefined
  const bench: Bench = {
    folder,
    isQuick: options.quick,
    load,
    get deliveries() {
      deliveries ??= writeDeliveries(folder, options.quick ? DELIVERIES.quick : DELIVERIES.full)
      return deliveries
    },
    startTarget: (file) => startTarget(file, options.profile === undefined ? [] : profiling(options.profile)),
    patience: createPatience(options.quick ? PATIENCE_MS.quick : PATIENCE_MS.full),
    say,
  }
  const results: Result[] = []
  for (const suite of SUITES.filter(({ names }) => names.some(isAskedFor))) {
    say(`\n${suite.names[0]?.split('.')[0]}`)
    results.push(...(await suite.run(bench)))
  }
  if (bench.patience.leftMs <= 0) say('\nThe machine was busy with other work: some figures are too low.')
  return results.filter(({ name }) => isAskedFor(name))
}

function profiling(folder: string): string[] {
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}

function describe(machine: Machine): string {
  const { cpu, cores, memoryGb, system, node, sqlite, fsyncMs, loadBefore, bodiesPerMs, loadGenerator } = machine
  return [
    `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}`,
    `node ${node}, sqlite ${sqlite}, fsync ${fsyncMs} ms, load before ${loadBefore.toFixed(1)}`,
    `one core parses ${bodiesPerMs} bodies of a delivery in a millisecond`,
    `${options.quick ? 'quick' : 'full'} run, load generator: ${loadGenerator}`,
  ].join('\n')
}

function report(results: readonly Result[]): void {
  say('')
  for (const { name, value, unit, goal, holds } of results) {
    const verdict = goal === null ? '' : `goal ${goal}: ${holds ? 'holds' : 'DOES NOT HOLD'}`
    say(`${name.padEnd(30)} ${String(value).padStart(8)} ${unit.padEnd(13)} ${verdict}`.trimEnd())
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
