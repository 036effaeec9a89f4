import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram, startProcess, type Target } from '../processes/child.ts'
import { judge, median, type Result } from '../report/result.ts'
import { inTurn } from '../report/rounds.ts'
import { startServer } from './postgres/bench-server.ts'
import type { Bench, Suite } from './suite.ts'

/**
 * Runs of three durable steps beside those of other engines, each in a process of its own. It runs
 * with `--rivals` only, which installs them from npm into `rivals/`.
 */
export const rivals: Suite = {
  names: ['rivals.vsRestate', 'rivals.vsOpenworkflow', 'rivals.vsDbos', 'rivals.vsDbosPostgres'],
  isForeign: true,
  run: runRivals,
}

const FOLDER = join(import.meta.dirname, '../rivals')
const IN_FLIGHT = 200
/** Runs of a round. */
const OURS = 20_000
const THEIRS = 1_000

const NAMES = ['ours', 'oursPostgres', 'restate', 'openworkflow', 'dbos'] as const
type Name = (typeof NAMES)[number]

async function runRivals(bench: Bench): Promise<Result[]> {
  // Only files are unpacked: no script of a package runs.
  const install = ['install', '--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
  await runProgram('npm', install, 300)
  await using server = await startServer(bench)
  await using ours = bench.startTarget('engine.ts')
  await using oursPostgres = bench.startTarget('engine.ts')
  await using restate = startProcess('rivals/restate.ts')
  await using openworkflow = startProcess('rivals/openworkflow.ts')
  await using dbos = startProcess('rivals/dbos.ts')
  const targets: Record<Name, Target> = { ours, oursPostgres, restate, openworkflow, dbos }
  for (const name of ['upshot', 'dbos']) await server.query(`CREATE DATABASE bench_${name}`)
  const databaseOf = (name: string) => server.url.replace(/[^/]*$/, `bench_${name}`)
  const folder = join(bench.folder, 'restate')
  mkdirSync(folder)
  await ours.call('open', { file: join(bench.folder, 'beside-rivals.db'), slots: IN_FLIGHT })
  await oursPostgres.call('open', { urls: [databaseOf('upshot')], schema: 'upshot', slots: IN_FLIGHT })
  await restate.call('open', { folder })
  await openworkflow.call('open', { file: join(bench.folder, 'openworkflow.db'), slots: IN_FLIGHT })
  await dbos.call('open', { url: databaseOf('dbos') })
  const rates: Record<Name, number[]> = { ours: [], oursPostgres: [], restate: [], openworkflow: [], dbos: [] }
  for (let round = 0; round <= (bench.isQuick ? 2 : 5); round++) {
    await bench.patience.waitForCalm()
    for (const name of inTurn(NAMES, round)) {
      const count = (name.startsWith('ours') ? OURS : THEIRS) / (bench.isQuick ? 4 : 1)
      const { runsPerSecond } = await targets[name].call<{ runsPerSecond: number }>('runMany', {
        count,
        inFlight: IN_FLIGHT,
      })
      // The first round compiles everything.
      if (round > 0) rates[name].push(runsPerSecond)
    }
  }
  const ratio = (of: Name, to: Name) => median(rates[of].map((rate, round) => rate / (rates[to][round] ?? Number.NaN)))
  bench.say(`  runs/s: ${NAMES.map((name) => `${name} ${Math.round(median(rates[name]))}`).join(', ')}`)
  return [
    judge('rivals.vsRestate', ratio('ours', 'restate'), 'ratio', { atLeast: 20 }),
    judge('rivals.vsOpenworkflow', ratio('ours', 'openworkflow'), 'ratio'),
    judge('rivals.vsDbos', ratio('ours', 'dbos'), 'ratio'),
    judge('rivals.vsDbosPostgres', ratio('oursPostgres', 'dbos'), 'ratio'),
  ]
}
