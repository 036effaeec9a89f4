import { join } from 'node:path'
import type { Target } from '../processes/child.ts'
import { type Goal, judge, type Result } from '../report/result.ts'
import { measureRounds } from '../report/rounds.ts'
import type { Stage } from '../targets/receive-stages.ts'
import type { CpuUse } from '../targets/receiver.ts'
import { emptyStoreSender, sendWithoutStore } from './ingest-burst.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS = {
  vsStorageFree: { atLeast: 0.55 },
  hardeningShare: { atMost: 0.1 },
} as const satisfies Record<string, Goal>

/** Processor time of an accepted delivery by stage, and the share of the hardening checks. */
export const receive: Suite = {
  names: [
    'receive.readUs',
    'receive.verifyUs',
    'receive.parseUs',
    'receive.planUs',
    'receive.commitUs',
    'receive.totalUs',
    'receive.hardeningShare',
    'receive.vsStorageFree',
  ],
  run: runReceive,
}

async function runReceive(bench: Bench): Promise<Result[]> {
  await using receiver = bench.startTarget('receiver.ts')
  await using plain = bench.startTarget('storage-free.ts')
  await using stages = bench.startTarget('receive-stages.ts')
  const plainUrl = await plain.call<string>('start')
  const send = emptyStoreSender(bench, { receiver, file: join(bench.folder, 'receive.db'), commit: 'group' })
  const sendPlain = sendWithoutStore(bench, plainUrl)
  for (const warmUp of bench.isOnce ? [] : [send, sendPlain]) await warmUp(bench.isQuick ? 2 : 4)
  await stages.call('measure', { rounds: 20 })

  const rounds = bench.quickRounds ?? { min: 7, max: 11 }
  const figures = await measureRounds(rounds, GOALS, async () => {
    await bench.patience.waitForCalm()
    return measureOnce({ send, sendPlain, receiver, stages })
  })
  say(bench, figures)
  return [
    judge('receive.readUs', figures.readUs, 'µs'),
    judge('receive.verifyUs', figures.verifyUs, 'µs'),
    judge('receive.parseUs', figures.parseUs, 'µs'),
    judge('receive.planUs', figures.planUs, 'µs'),
    judge('receive.commitUs', figures.commitUs, 'µs'),
    judge('receive.totalUs', figures.totalUs, 'µs'),
    judge('receive.hardeningShare', figures.hardeningShare, 'ratio', GOALS.hardeningShare),
    judge('receive.vsStorageFree', figures.vsStorageFree, 'ratio', GOALS.vsStorageFree),
  ]
}

interface Rivals {
  send: ReturnType<typeof emptyStoreSender>
  sendPlain: ReturnType<typeof sendWithoutStore>
  receiver: Target
  stages: Target
}

/** Divides the processor time of a burst: stages on the main thread, then the writer thread. */
async function measureOnce({ send, sendPlain, receiver, stages }: Rivals) {
  const before = await receiver.call<CpuUse>('cpu')
  const burst = await send(1)
  const after = await receiver.call<CpuUse>('cpu')
  const plain = await sendPlain(1)
  const { intake, verify, scan, parse, plan } = await stages.call<Record<Stage, number>>('measure', { rounds: 5 })
  const mainUs = (after.mainUs - before.mainUs) / burst.answered
  const totalUs = (after.allUs - before.allUs) / burst.answered
  return {
    readUs: mainUs - verify - parse - plan,
    verifyUs: verify,
    parseUs: parse,
    planUs: plan,
    commitUs: totalUs - mainUs,
    totalUs,
    mainUs,
    hardeningShare: (intake + scan) / mainUs,
    vsStorageFree: burst.perSecond / plain.perSecond,
  }
}

type Figures = Awaited<ReturnType<typeof measureOnce>>

function say(bench: Bench, figures: Figures): void {
  const parts = [
    ['read, hand over and answer', figures.readUs],
    ['verify', figures.verifyUs],
    ['parse', figures.parseUs],
    ['plan', figures.planUs],
    ['commit, in its own thread', figures.commitUs],
  ] as const
  for (const [what, us] of parts) {
    const share = `${((us / figures.totalUs) * 100).toFixed(1)} %`
    bench.say(`  ${what.padEnd(28)} ${us.toFixed(2).padStart(8)} µs ${share.padStart(8)}`)
  }
}
