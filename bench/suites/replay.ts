import { join } from 'node:path'
import { prefillJournal } from '../prefill/prefill-runs.ts'
import { judge, median, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

/** Time from claim to end of a run of 10,000 finished steps: read, replay, one commit. */
export const replay: Suite = { names: ['replay.10kStepsMs'], run: runReplay }

async function runReplay(bench: Bench): Promise<Result[]> {
  const times: number[] = []
  for (let round = 0; round < (bench.quickRounds?.max ?? 7); round++) {
    await using target = bench.startTarget('engine.ts')
    const file = join(bench.folder, `replay-${round}.db`)
    prefillJournal(file)
    await bench.patience.waitForCalm()
    await target.call('open', { file, slots: 1 })
    times.push(await target.call<number>('msUntilDone', 1))
  }
  bench.say(`  ${times.map((time) => `${time.toFixed(0)} ms`).join(', ')}`)
  return [judge('replay.10kStepsMs', median(times), 'ms')]
}
