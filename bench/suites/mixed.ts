import { Agent } from 'node:http'
import { resolve } from 'node:path'
import { EVENT_TYPE } from '../deliveries.ts'
import { startNodeSenders } from '../load/node-senders.ts'
import { deliver } from '../load/paced-deliveries.ts'
import type { AppProcess } from '../processes/app-process.ts'
import { DATABASES, type DatabaseName, openProject } from '../processes/open-project.ts'
import { type Goal, judge, median, type Result } from '../report/result.ts'
import { inTurn, measureRounds } from '../report/rounds.ts'
import { type BenchServer, startServer } from './postgres/bench-server.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS = {
  longVsSqlite: { atLeast: 0.4 },
  limitedVsAlone: { atLeast: 0.5 },
  ticksVsAlone: { atLeast: 0.5 },
  limitedVsAloneSqlite: { atLeast: 0.5 },
  ticksVsAloneSqlite: { atLeast: 0.5 },
} as const satisfies Record<string, Goal>

/** The whole app with all kinds of runs at once, on either database. */
export const mixed: Suite = {
  names: [
    'mixed.longVsSqlite',
    'mixed.limitedVsAlone',
    'mixed.ticksVsAlone',
    'mixed.limitedVsAloneSqlite',
    'mixed.ticksVsAloneSqlite',
    'mixed.longPerSecond',
  ],
  isSlow: true,
  run: runMixed,
}

const AUTHOR = resolve(import.meta.dirname, '../../src/author/index.ts')
/** Type of the events that start limited runs only. */
const LIMITED_TYPE = 'transfer.completed'
export const EVENTS = { quick: 1_000, full: 4_000 }
/** Limited runs that stand in line before the backlog, beside those that it sends. */
export const IN_LINE = { quick: 1_500, full: 4_000 }
export const CONNECTIONS = 20
/** Events whose runs compile everything. */
export const WARM = 200
/** Limited runs at work at once, and those from which on a line surely stands behind them. */
const PLACES = 5
const LONG_LINE = 50
/** A starving line is measured for this long, in seconds. */
export const MOST_SECONDS = { quick: 60, full: 120 }

const WORKFLOWS = {
  long: `defineWorkflow({
  id: 'long',
  on: '${EVENT_TYPE}',
  run: async ({ event, step }) => {
    await step.run('first', () => event.id)
    await step.run('once', () => 1, { once: true })
    await Promise.all(['one', 'two', 'three'].map((name) => step.run(name, () => name)))
    await step.sleep('pause', 1)
    await step.send('sent', 'mixed.sent', { of: event.id })
    await step.invoke('child', child, 1)
    await step.run('eighth', () => 8)
    return step.run('last', () => 9)
  },
})`,
  short: `defineWorkflow({ id: 'short', on: '${EVENT_TYPE}', run: ({ step }) => step.run('only', () => 1) })`,
  limited: `defineWorkflow({
  id: 'limited',
  on: ['mixed.sent', '${LIMITED_TYPE}'],
  concurrency: { limit: ${PLACES} },
  run: ({ step }) => step.run('only', () => 1),
})`,
  tick: `defineWorkflow({
  id: 'tick',
  on: cron('* * * * * *', { overlap: 'queue' }),
  run: ({ step }) => step.run('only', () => 1),
})`,
}
const CHILD = `import { callable, defineWorkflow, z } from '${AUTHOR}'
export default defineWorkflow({ id: 'child', on: callable(z.number()), run: ({ step }) => step.run('only', () => 2) })
`

export const MODULES = Object.fromEntries([
  ['child.workflow.ts', CHILD],
  ...Object.entries(WORKFLOWS).map(([id, code]) => {
    const imports = `import { cron, defineWorkflow } from '${AUTHOR}'\nimport child from './child.workflow.ts'\n`
    return [`${id}.workflow.ts`, `${imports}export default ${code}\n`]
  }),
])

async function runMixed(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench)
  const size = bench.isQuick ? 'quick' : 'full'
  const rounds = bench.isQuick ? { min: 1, max: 1 } : { min: 3, max: 5 }
  const figures = await measureRounds(rounds, GOALS, async (round) => {
    await bench.patience.waitForCalm()
    const found = {} as Record<DatabaseName, Speeds>
    for (const name of inTurn(DATABASES, round)) found[name] = await measure(bench, server, { name, size })
    const { sqlite, postgres } = found
    return {
      longVsSqlite: postgres.longPerSecond / sqlite.longPerSecond,
      longPerSecond: postgres.longPerSecond,
      limitedVsAlone: postgres.limitedVsAlone,
      ticksVsAlone: postgres.ticksVsAlone,
      limitedVsAloneSqlite: sqlite.limitedVsAlone,
      ticksVsAloneSqlite: sqlite.ticksVsAlone,
    }
  })
  return [
    ...(['longVsSqlite', 'limitedVsAlone', 'ticksVsAlone', 'limitedVsAloneSqlite', 'ticksVsAloneSqlite'] as const).map(
      (name) => judge(`mixed.${name}`, figures[name], 'ratio', GOALS[name]),
    ),
    judge('mixed.longPerSecond', figures.longPerSecond, 'runs/s'),
  ]
}

export const urlOf = ({ app }: { app: AppProcess }) => app.urls['endpoint service'] ?? ''

export async function deliverLimited(url: string, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  await Promise.all(Array.from({ length: count }, () => deliver(url, agent, LIMITED_TYPE)))
  agent.destroy()
}

interface Speeds {
  longPerSecond: number
  limitedVsAlone: number
  ticksVsAlone: number
}

/** Limited runs and ticks alone, and then beside a backlog. */
async function measure(
  bench: Bench,
  server: BenchServer,
  { name, size }: { name: DatabaseName; size: keyof typeof EVENTS },
): Promise<Speeds> {
  await using project = await openProject(bench, { database: name, server, modules: MODULES })
  const url = urlOf(project)
  await using load = await startNodeSenders()
  const send = (from: number, count: number) =>
    load.send({ url, connections: CONNECTIONS, seconds: 60, deliveries: { ...bench.deliveries, from, count } })
  await send(0, WARM)
  await project.rest(MOST_SECONDS[size])
  const aloneFrom = Date.now()
  await deliverLimited(url, IN_LINE[size])
  await project.rest(MOST_SECONDS[size])
  const alone = measureEnds(await project.listRuns(aloneFrom))
  const from = Date.now()
  await Promise.all([send(WARM, EVENTS[size]), deliverLimited(url, IN_LINE[size])])
  await project.rest(MOST_SECONDS[size])
  const beside = measureEnds(await project.listRuns(from))
  const limitedVsAlone = beside.limited / alone.limited
  bench.say(
    `  ${name}, ${EVENTS[size]} events: ${beside.open} open; runs/s: ${describe(beside)}; ` +
      `limited alone ${Math.round(alone.limited)}, held ${alone.heldMs} ms`,
  )
  return { longPerSecond: beside.long, limitedVsAlone, ticksVsAlone: beside.tick }
}

interface EndedRun {
  workflow: string
  created: number
  started: number | null
  finished: number | null
}

type Ends = Record<'long' | 'child' | 'short' | 'limited' | 'heldMs' | 'tick' | 'open', number>

/**
 * Runs per second of each workflow, from the first delivery to its last end. Ticks count until the
 * last long run has ended, and limited runs while a long line of them stands.
 */
function measureEnds(runs: readonly EndedRun[]): Ends {
  const begunAt = runs.reduce((least, { created }) => Math.min(least, created), Infinity)
  const latest = (ends: readonly number[]) => ends.reduce((most, at) => Math.max(most, at), begunAt)
  const endsOf = (workflow: string) =>
    runs.flatMap((run) => (run.workflow === workflow && run.finished !== null ? [run.finished] : []))
  const lastOf = (workflow: string) => latest(endsOf(workflow))
  const backlogEndsAt = endsOf('long').length > 0 ? Math.max(lastOf('long'), lastOf('short')) : Infinity
  const rate = (workflow: string, until = Infinity) => {
    const ends = endsOf(workflow).filter((at) => at <= until)
    return (ends.length * 1_000) / (Math.min(until, latest(ends)) - begunAt)
  }
  const limited = runs.filter(({ workflow }) => workflow === 'limited')
  const held = limited.flatMap(({ started, finished }) => (started && finished ? [finished - started] : []))
  return {
    long: rate('long'),
    child: rate('child'),
    short: rate('short'),
    limited: measureLine(limited, backlogEndsAt),
    heldMs: median(held),
    tick: rate('tick', backlogEndsAt),
    open: runs.filter(({ finished }) => finished === null).length,
  }
}

/** Ends per second while a line stood, up to the end of the backlog. */
export function measureLine(runs: readonly EndedRun[], until: number): number {
  const moves = runs
    .flatMap(({ created, finished }) => [
      { at: created, by: 1 },
      ...(finished === null ? [] : [{ at: finished, by: -1 }]),
    ])
    .filter(({ at }) => at <= until)
    .sort((a, b) => a.at - b.at)
  let unfinished = 0
  let ends = 0
  let ms = 0
  for (const [index, { at, by }] of moves.entries()) {
    if (unfinished > LONG_LINE) {
      ms += at - (moves[index - 1]?.at ?? at)
      if (by < 0) ends += 1
    }
    unfinished += by
  }
  return (ends * 1_000) / ms
}

function describe({ open: _, ...rates }: Partial<Ends>): string {
  return Object.entries(rates)
    .map(([workflow, rate]) => `${workflow} ${rate.toFixed(1)}`)
    .join(', ')
}
