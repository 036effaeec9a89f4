import { join } from 'node:path'
import type { Bench, Suite } from '../bench.ts'
import { judge, median, type Result } from '../result.ts'

const FILES = { quick: 20_000, full: 100_000 }
const PAGES_COMPARED = 20
const ROUNDS = 5
const SCANS = 3

interface Scan {
  ms: number
  cpuMs: number
  entries: number
  rssMb: number
}

/** What a directory of a hundred thousand files costs the sandbox. */
export const sandbox: Suite = {
  names: [
    'sandbox.scan100kMs',
    'sandbox.lastPageVsFirst',
    'sandbox.pageMs',
    'sandbox.droppedMs',
    'sandbox.scanMemoryMb',
  ],
  run: runSandbox,
}

async function runSandbox(bench: Bench): Promise<Result[]> {
  const size = bench.isQuick ? 'quick' : 'full'
  const dir = join(bench.folder, 'sandbox')
  await using target = bench.startTarget('sandbox.ts')
  await target.call('fill', { dir, files: FILES[size] })
  await bench.patience.waitForCalm()

  const scans: Scan[] = []
  for (let n = 0; n < SCANS; n++) scans.push(await target.call<Scan>('scan', dir))
  // Other work on the machine only ever adds to a scan; memory is that of the first, which found
  // the process fresh.
  const ms = Math.min(...scans.map((scan) => scan.ms))
  const cpuMs = Math.min(...scans.map((scan) => scan.cpuMs))
  const { entries = 0, rssMb = Number.NaN } = scans[0] ?? {}
  await target.call('list')
  const rounds: number[][] = []
  // Everything is warm now; and where the regular scan of the directory slows one round's end, the
  // others know better.
  for (let round = 0; round < ROUNDS; round++) rounds.push(await target.call<number[]>('list'))
  const ratios = rounds.map((pages) => median(pages.slice(-PAGES_COMPARED)) / median(pages.slice(0, PAGES_COMPARED)))
  const drops: number[] = []
  for (let n = 0; n < (bench.isQuick ? 3 : 7); n++) {
    drops.push(await target.call<number>('drop', { dir, name: `dropped-${n}.txt` }))
  }
  await target.call('stop', dir)
  bench.say(
    `  ${entries} entries scanned in ${Math.round(ms)} ms (${Math.round(cpuMs)} ms of processor), listed on ${rounds[0]?.length} pages`,
  )

  return [
    // Per hundred thousand, so that a short run can be read beside a long one.
    judge('sandbox.scan100kMs', ms * (FILES.full / FILES[size]), 'ms', { atMost: 10_000 }),
    judge('sandbox.lastPageVsFirst', median(ratios), 'ratio', { atMost: 2 }),
    judge('sandbox.pageMs', median(rounds.flat()), 'ms'),
    judge('sandbox.droppedMs', median(drops), 'ms', { atMost: 1_000 }),
    judge('sandbox.scanMemoryMb', rssMb, 'MB', { atMost: 300 }),
  ]
}
