import { join } from 'node:path'
import { judge, median, type Result } from '../report/result.ts'
import type { Beside } from '../targets/lists.ts'
import type { Bench, Suite } from './suite.ts'

/** Deliveries beside a long list of deletes: while it begins, is held, is decided and canceled. */
export const lists: Suite = {
  names: ['lists.besideBeginMs', 'lists.besideHeldMs', 'lists.besideWordMs', 'lists.besideCancelMs', 'lists.beginMs'],
  isSlow: true,
  run: runLists,
}

async function runLists(bench: Bench): Promise<Result[]> {
  const count = bench.isQuick ? 10_000 : 50_000
  const found: Record<'begin' | 'held' | 'word' | 'cancel', Beside[]> = { begin: [], held: [], word: [], cancel: [] }
  await using target = bench.startTarget('lists.ts')
  await target.call('open', { file: join(bench.folder, 'lists.db') })
  for (let round = 0; round < (bench.isQuick ? 1 : 3); round++) {
    await bench.patience.waitForCalm()
    found.begin.push(await target.call<Beside>('begin', { count, hasRoom: true }))
    found.held.push(await target.call<Beside>('begin', { count, hasRoom: false }))
    found.word.push(await target.call<Beside>('approveHalf', count))
    found.cancel.push(await target.call<Beside>('cancel', null))
  }
  await target.call('close', null)
  const p99 = (all: readonly Beside[]) => median(all.map((each) => each.p99))
  bench.say(`  ${count} deletes in each list, 99 of 100 deliveries beside them`)
  return [
    judge('lists.besideBeginMs', p99(found.begin), 'ms', { atMost: 100 }),
    judge('lists.besideHeldMs', p99(found.held), 'ms', { atMost: 100 }),
    judge('lists.besideWordMs', p99(found.word), 'ms', { atMost: 100 }),
    judge('lists.besideCancelMs', p99(found.cancel), 'ms'),
    judge('lists.beginMs', median(found.begin.map(({ ms }) => ms)), 'ms'),
  ]
}
