import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApp } from '../processes/app-process.ts'
import { buildPackage, CLONE, type Program } from '../processes/built-package.ts'
import { timeCommand } from '../processes/run-command.ts'
import { type Goal, judge, median, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

const FIGURES = ['readyMs', 'readyCpuMs', 'firstReadyMs', 'idleMb', 'modules', 'versionMs'] as const
type Figure = (typeof FIGURES)[number]

/** Start and idle memory of the app with sandbox and samples, in a clone and as the package. */
export const appProcess: Suite = {
  names: [nameInClone, nameInPackage].flatMap((name) => FIGURES.map(name)),
  run: runProcess,
}

function nameInClone(figure: Figure): string {
  return `process.${figure}`
}

function nameInPackage(figure: Figure): string {
  return `process.package${figure.charAt(0).toUpperCase()}${figure.slice(1)}`
}

const LIST_MODULES = join(import.meta.dirname, '../processes/list-modules.js')
/** Time after the start in which the first runs end, and the app frees what its start took. */
const SETTLE_MS = 16_000

const UNITS: Record<Figure, string> = {
  readyMs: 'ms',
  readyCpuMs: 'ms',
  firstReadyMs: 'ms',
  versionMs: 'ms',
  idleMb: 'MB',
  modules: 'modules',
}
const CLONE_GOALS: Partial<Record<Figure, Goal>> = {
  readyMs: { atMost: 800 },
  idleMb: { atMost: 175 },
  versionMs: { atMost: 120 },
  modules: { atMost: 1_250 },
}
const PACKAGE_GOALS: Partial<Record<Figure, Goal>> = {
  readyMs: { atMost: 400 },
  idleMb: { atMost: 150 },
  versionMs: { atMost: 120 },
  modules: { atMost: 130 },
}

async function runProcess(bench: Bench): Promise<Result[]> {
  const installed = mkdtempSync(join(bench.folder, 'package-'))
  const measured = [
    { nameOf: nameInClone, program: CLONE, goals: CLONE_GOALS, figures: noFigures() },
    { nameOf: nameInPackage, program: await buildPackage(installed), goals: PACKAGE_GOALS, figures: noFigures() },
  ]
  const rounds = bench.quickRounds?.max ?? 7
  const settleMs = bench.isOnce ? 0 : SETTLE_MS
  for (let round = 0; round < rounds; round++) {
    for (const { program, figures } of round % 2 === 0 ? measured : measured.toReversed()) {
      await bench.patience.waitForCalm()
      await measure(mkdtempSync(join(bench.folder, 'app-')), program, figures, round < rounds - 1 ? null : settleMs)
    }
  }
  bench.say(`  ${rounds} first starts of both, and one more of each`)
  return measured.flatMap(({ nameOf, goals, figures }) =>
    FIGURES.map((figure) => judge(nameOf(figure), median(figures[figure]), UNITS[figure], goals[figure])),
  )
}

function noFigures(): Record<Figure, number[]> {
  return { readyMs: [], readyCpuMs: [], firstReadyMs: [], idleMb: [], modules: [], versionMs: [] }
}

/** One round. The last one lets its app settle, and measures what hardly differs between rounds. */
async function measure(
  root: string,
  program: Program,
  figures: Record<Figure, number[]>,
  settleMs: number | null,
): Promise<void> {
  // The first start of a project compiles everything, and makes the sandbox.
  {
    await using app = await startApp({ root, ...program })
    figures.firstReadyMs.push(app.readyMs)
  }
  {
    await using app = await startApp({ root, ...program })
    figures.readyMs.push(app.readyMs)
    figures.readyCpuMs.push(app.cpuMs())
    if (settleMs !== null) {
      await sleep(settleMs)
      figures.idleMb.push(app.residentMb())
    }
  }
  mkdirSync(join(root, 'command'), { recursive: true })
  const version = () => timeCommand(root, join(root, 'command'), ['--version'], program)
  await version()
  figures.versionMs.push((await version()).firstMs)
  if (settleMs !== null) figures.modules.push(await countModules(root, program))
}

/** Files of code that the main thread, the writer and the engine load until the app is ready. */
async function countModules(root: string, program: Program): Promise<number> {
  const lists = join(root, 'modules')
  const environment = { UPSHOT_BENCH_MODULES: lists, NODE_OPTIONS: `--import=${LIST_MODULES}` }
  await using _app = await startApp({ root, ...program, environment })
  const found = [0, 1, 2, 3].flatMap((thread) => {
    const lines = readLines(`${lists}.${thread}`)
    // The first one of each thread is its entry.
    return /\/(app\/main|writer-thread|engine-thread-main)\.[jt]s$/.test(lines[0] ?? '') ? [new Set(lines).size] : []
  })
  return found.reduce((all, each) => all + each, 0)
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n')
  } catch {
    return []
  }
}
