import { join } from 'node:path'
import type { Bench, Suite } from '../bench.ts'
import { prefillJournal } from '../prefill-runs.ts'
import { judge, median, type Result } from '../result.ts'

/**
 * How long a run of 10,000 finished steps takes from its claim to its end: reading them, replaying
 * them, one commit.
 */
export const replay: Suite = { names: ['replay.10kStepsMs'], run: runReplay }

async function runReplay(bench: Bench): Promise<Result[]> {
  const times: number[] = []
  for (let round = 0; round < (bench.isQuick ? 3 : 7); round++) {
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
