import { join } from 'node:path'
import { judge, median, type Result } from '../report/result.ts'
import type { Beside } from '../targets/lists.ts'
import type { Bench, Suite } from './suite.ts'

/** The stages of a long list. */
const PHASES = ['begin', 'held', 'word', 'askAgain', 'cancel', 'resume'] as const

type Phase = (typeof PHASES)[number]

const nameOf = (phase: string) => `lists.beside${phase.charAt(0).toUpperCase()}${phase.slice(1)}Ms`

/** Deliveries beside each stage of a long list of deletes, and beside the end of a stop. */
export const lists: Suite = {
  names: [...PHASES.map(nameOf), 'lists.beginMs'],
  isSlow: true,
  run: runLists,
}

async function runLists(bench: Bench): Promise<Result[]> {
  const count = bench.isQuick ? 10_000 : 50_000
  const found = Object.fromEntries(PHASES.map((phase) => [phase, []])) as unknown as Record<Phase, Beside[]>
  await using target = bench.startTarget('lists.ts')
  await target.call('open', { file: join(bench.folder, 'lists.db') })
  for (let round = 0; round < (bench.isQuick ? 1 : 3); round++) {
    await bench.patience.waitForCalm()
    found.begin.push(await target.call<Beside>('begin', { count, hasRoom: true }))
    found.held.push(await target.call<Beside>('begin', { count, hasRoom: false }))
    found.word.push(await target.call<Beside>('approveHalf', count))
    found.askAgain.push(await target.call<Beside>('askAgain', null))
    found.cancel.push(await target.call<Beside>('cancel', null))
    found.resume.push(await target.call<Beside>('resume', count / 10))
  }
  await target.call('close', null)
  const p99 = (all: readonly Beside[]) => median(all.map((each) => each.p99))
  bench.say(`  ${count} deletes in each list, ${count / 10} runs in the stop, 99 of 100 deliveries beside them`)
  return [
    ...PHASES.map((phase) => judge(nameOf(phase), p99(found[phase]), 'ms', { atMost: 100 })),
    judge('lists.beginMs', median(found.begin.map(({ ms }) => ms)), 'ms'),
  ]
}
