import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EVENT_TYPE } from '../deliveries.ts'
import { prefillRecorded } from '../prefill/prefill-runs.ts'
import { timeCommand } from '../processes/run-command.ts'
import { type Goal, judge, median, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS = {
  firstLineMs: { atMost: 300 },
  manySeconds: { atMost: 30 },
  growthMb: { atMost: 300 },
} as const satisfies Record<string, Goal>

const moduleOf = (name: string) => fileURLToPath(new URL(`../workflows/${name}.ts`, import.meta.url))
const WORKFLOWS = ['deletes-all', 'deletes-in-turn']
const TIMES = 5

/** The first line of a plan, and plans of many deletes: the slowest of one list and one loop. */
export const plan: Suite = {
  names: ['plan.firstLineMs', 'plan.manySeconds', 'plan.growthMb'],
  isSlow: true,
  run: runPlan,
}

async function runPlan(bench: Bench): Promise<Result[]> {
  const root = join(bench.folder, 'plan')
  const workflowsDir = join(root, 'workflows')
  mkdirSync(workflowsDir, { recursive: true })
  const write = (id: string, from: string, name: string) =>
    writeFileSync(join(workflowsDir, `${id}.workflow.ts`), `export { ${name} as default } from '${moduleOf(from)}'\n`)
  write('measured', 'three-steps', 'threeSteps')
  write('deletes-all', 'many-deletes', 'deletesAll')
  write('deletes-in-turn', 'many-deletes', 'deletesInTurn')
  const firstLineMs = await timeFirstLine(bench, root)
  const files = bench.isQuick ? 5_000 : 50_000
  const found = await planEach(bench, { workflowsDir, files })
  return [
    judge('plan.firstLineMs', firstLineMs, 'ms', GOALS.firstLineMs),
    judge('plan.manySeconds', Math.max(...found.map(({ seconds }) => seconds)), 's', GOALS.manySeconds),
    judge('plan.growthMb', Math.max(...found.map(({ growthMb }) => growthMb)), 'MB', GOALS.growthMb),
  ]
}

async function timeFirstLine(bench: Bench, root: string): Promise<number> {
  prefillRecorded(join(root, 'upshot.db'), 1)
  const event = join(root, 'event.json')
  writeFileSync(event, JSON.stringify({ id: 'evt_1', type: EVENT_TYPE, created: '2026-01-01T00:00:00Z', data: {} }))
  const args = ['plan', '--file', event, '--workflow', 'measured', '--workflows', join(root, 'workflows')]
  // The first start compiles everything.
  await timeCommand(root, root, args)
  await bench.patience.waitForCalm()
  const times: number[] = []
  for (let n = 0; n < TIMES; n++) times.push((await timeCommand(root, root, args)).firstMs)
  return median(times)
}

async function planEach(bench: Bench, { workflowsDir, files }: { workflowsDir: string; files: number }) {
  const found: Found[] = []
  for (const workflow of WORKFLOWS) {
    await using target = bench.startTarget('plan.ts')
    await bench.patience.waitForCalm()
    const one = await target.call<Found>('planMany', { workflowsDir, workflow, files })
    if (one.deleted !== files) throw new Error(`${workflow} plans ${one.deleted} deletes of ${files}: ${one.end}`)
    bench.say(`  ${workflow}, ${files} files: ${one.seconds.toFixed(1)} s, ${Math.round(one.growthMb)} MB`)
    found.push(one)
  }
  return found
}

interface Found {
  deleted: number
  end: string
  seconds: number
  growthMb: number
}
