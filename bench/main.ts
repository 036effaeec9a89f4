import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeError } from '../src/core/errors.ts'
import { type DeliveryFile, writeDeliveries } from './deliveries.ts'
import type { LoadGenerator } from './load/load-generator.ts'
import { startNodeSenders } from './load/node-senders.ts'
import { openWrk } from './load/wrk.ts'
import { killChildren, startProcess } from './processes/child.ts'
import { type Machine, measureMachine, measureSpeed } from './report/machine.ts'
import { createPatience } from './report/patience.ts'
import type { Result } from './report/result.ts'
import { annotations } from './suites/annotations.ts'
import { appBelt } from './suites/app-belt.ts'
import { appProcess } from './suites/app-process.ts'
import { backlog } from './suites/backlog.ts'
import { backtest } from './suites/backtest.ts'
import { blocked } from './suites/blocked.ts'
import { claim } from './suites/claim.ts'
import { day } from './suites/day.ts'
import { download } from './suites/download.ts'
import { engine } from './suites/engine.ts'
import { growth } from './suites/growth.ts'
import { hooks } from './suites/hooks.ts'
import { ingest } from './suites/ingest.ts'
import { ledger } from './suites/ledger.ts'
import { lists } from './suites/lists.ts'
import { many } from './suites/many.ts'
import { metrics } from './suites/metrics.ts'
import { mixed } from './suites/mixed.ts'
import { pages } from './suites/pages.ts'
import { plan } from './suites/plan.ts'
import { postgres } from './suites/postgres/postgres.ts'
import { questions } from './suites/questions.ts'
import { receive } from './suites/receive.ts'
import { replay } from './suites/replay.ts'
import { rivals } from './suites/rivals.ts'
import { sandbox } from './suites/sandbox.ts'
import { schedules } from './suites/schedules.ts'
import { searched } from './suites/searched.ts'
import { start } from './suites/start.ts'
import type { Bench, Suite } from './suites/suite.ts'
import { sweeps } from './suites/sweeps.ts'
import { traces } from './suites/traces.ts'
import { turns } from './suites/turns.ts'

const SUITES: readonly Suite[] = [
  ingest,
  receive,
  growth,
  many,
  start,
  engine,
  claim,
  replay,
  turns,
  blocked,
  searched,
  questions,
  annotations,
  pages,
  ledger,
  lists,
  schedules,
  hooks,
  metrics,
  traces,
  sweeps,
  plan,
  backtest,
  postgres,
  mixed,
  backlog,
  download,
  sandbox,
  appBelt,
  appProcess,
  day,
  rivals,
]

/** Enough for the longest burst, and for all bursts to one store together. */
const DELIVERIES = { quick: 300_000, full: 3_300_000 }

/** Time that all rounds together may wait for other work on the machine. */
const PATIENCE_MS = { quick: 10_000, full: 120_000 }

const OPTIONS = {
  help: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  once: { type: 'boolean', default: false },
  json: { type: 'string' },
  only: { type: 'string', default: '' },
  'node-load': { type: 'boolean', default: false },
  profile: { type: 'string' },
  'ledger-rows': { type: 'string' },
  rivals: { type: 'boolean', default: false },
} as const

const USAGE = `npm run bench -- [options]

  --quick           fewer and shorter rounds, without slow suites: about two minutes
  --once            a quick run of one round each: that each figure can be measured
  --only <prefix>   only results whose names begin with this prefix
  --json <file>     write machine and results to a file
  --node-load       send with Node processes even where wrk is installed
  --profile <dir>   write a CPU profile of each target into this folder
  --ledger-rows <n> rows of the effect ledger (default: 10 million, with --quick one)
  --rivals          install other engines from npm, and measure them too
  --help            print this help

Results:`

const options = readOptions()

// Not in the system's temporary folder, which may lie in memory, where a commit costs nothing.
const folder = mkdtempSync(join(import.meta.dirname, 'tmp-'))
process.on('exit', () => {
  killChildren()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

await using load = await chooseLoad()
const machine = measureMachine(folder, load.name)
say(describeMachine(machine))
const results = await runSuites()
const bodiesPerMsAfter = measureSpeed()
report(results)
say(`\none core parses ${bodiesPerMsAfter} bodies per millisecond now, ${machine.bodiesPerMs} before`)
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify({ machine: { ...machine, bodiesPerMsAfter }, results }, null, 2)}\n`)
process.exitCode = results.every(isGoodEnough) ? 0 : 1

/** Exits with 2 for options that cannot be parsed, or a prefix that no result has. */
function readOptions() {
  try {
    const { values } = parseArgs({ options: OPTIONS })
    const isKnown = SUITES.some(({ names }) => names.some((name) => name.startsWith(values.only)))
    if (!isKnown) throw new Error(`No result has a name that begins with "${values.only}".`)
    if (!values.help) return { ...values, quick: values.quick || values.once }
    say(describeUsage())
    process.exit(0)
  } catch (error) {
    process.stderr.write(`${describeError(error).message}\n${describeUsage()}\n`)
    process.exit(2)
  }
}

function describeUsage(): string {
  const suites = SUITES.map(({ names }) => `  ${names.join(' ')}`)
  return [USAGE, ...suites].join('\n')
}

/** A full run must reach every goal. A quick run fails only where a figure was not measured. */
function isGoodEnough({ holds, value }: Result): boolean {
  return holds || (options.quick && Number.isFinite(value))
}

async function chooseLoad(): Promise<LoadGenerator> {
  return (options['node-load'] ? null : openWrk(folder)) ?? (await startNodeSenders())
}

async function runSuites(): Promise<Result[]> {
  const isAskedFor = (name: string) => name.startsWith(options.only)
  let deliveries: DeliveryFile | undefined
  const bench: Bench = {
    folder,
    isQuick: options.quick,
    isOnce: options.once,
    size: options.once ? 'once' : options.quick ? 'quick' : 'full',
    quickRounds: options.quick ? (options.once ? { min: 1, max: 1 } : { min: 3, max: 3 }) : null,
    ledgerRows: options['ledger-rows'] === undefined ? null : Number(options['ledger-rows']),
    load,
    get deliveries() {
      deliveries ??= writeDeliveries(folder, options.quick ? DELIVERIES.quick : DELIVERIES.full)
      return deliveries
    },
    startTarget: (file) =>
      startProcess(`targets/${file}`, options.profile === undefined ? [] : profiling(options.profile)),
    patience: createPatience(options.quick ? PATIENCE_MS.quick : PATIENCE_MS.full),
    say,
  }
  const results: Result[] = []
  const isTime = ({ isSlow = false, isForeign = false }: Suite) =>
    isForeign ? options.rivals : !isSlow || !options.quick || options.only !== ''
  for (const suite of SUITES.filter((each) => isTime(each) && each.names.some(isAskedFor))) {
    say(`\n${suite.names[0]?.split('.')[0]}`)
    results.push(...(await suite.run(bench)))
  }
  if (bench.patience.leftMs <= 0) say('\nOther work kept the machine busy: some figures are too low.')
  return results.filter(({ name }) => isAskedFor(name))
}

function profiling(folder: string): string[] {
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}

function describeMachine(machine: Machine): string {
  const { cpu, cores, memoryGb, system, node, sqlite, fsyncMs, loadBefore, bodiesPerMs, loadGenerator } = machine
  return [
    `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}`,
    `node ${node}, sqlite ${sqlite}, fsync ${fsyncMs} ms, load before ${loadBefore.toFixed(1)}`,
    `one core parses ${bodiesPerMs} delivery bodies per millisecond`,
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
