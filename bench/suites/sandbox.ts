import { join } from 'node:path'
import { judge, median, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

const FILES = { once: 5_000, quick: 20_000, full: 100_000 }
const PAGES_COMPARED = 20
const ROUNDS = 5
const SCANS = 3

interface Scan {
  ms: number
  cpuMs: number
  entries: number
  rssMb: number
}

/** Cost of a directory of 100,000 files for the sandbox. */
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
  const dir = join(bench.folder, 'sandbox')
  await using target = bench.startTarget('sandbox.ts')
  await target.call('fill', { dir, files: FILES[bench.size] })
  await bench.patience.waitForCalm()

  const scans: Scan[] = []
  for (let n = 0; n < SCANS; n++) scans.push(await target.call<Scan>('scan', dir))
  // The fastest scan had the least other work beside it. Memory counts from a fresh process.
  const ms = Math.min(...scans.map((scan) => scan.ms))
  const cpuMs = Math.min(...scans.map((scan) => scan.cpuMs))
  const { entries = 0, rssMb = Number.NaN } = scans[0] ?? {}
  await target.call('list')
  const rounds: number[][] = []
  // The median over rounds ignores one that the periodic scan of the directory has slowed down.
  for (let round = 0; round < ROUNDS; round++) rounds.push(await target.call<number[]>('list'))
  const ratios = rounds.map((pages) => median(pages.slice(-PAGES_COMPARED)) / median(pages.slice(0, PAGES_COMPARED)))
  const drops: number[] = []
  for (let n = 0; n < (bench.isQuick ? 3 : 7); n++) {
    drops.push(await target.call<number>('drop', { dir, name: `dropped-${n}.txt` }))
  }
  await target.call('stop', dir)
  const times = `${Math.round(ms)} ms (${Math.round(cpuMs)} ms of CPU)`
  bench.say(`  ${entries} entries scanned in ${times}, listed on ${rounds[0]?.length} pages`)

  return [
    // Scaled to 100,000 files, so that quick and full runs can be compared.
    judge('sandbox.scan100kMs', ms * (FILES.full / FILES[bench.size]), 'ms', { atMost: 10_000 }),
    judge('sandbox.lastPageVsFirst', median(ratios), 'ratio', { atMost: 2 }),
    judge('sandbox.pageMs', median(rounds.flat()), 'ms'),
    judge('sandbox.droppedMs', median(drops), 'ms', { atMost: 1_000 }),
    judge('sandbox.scanMemoryMb', rssMb, 'MB', { atMost: 300 }),
  ]
}
