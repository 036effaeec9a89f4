import { join } from 'node:path'
import type { Bench, Suite } from '../bench.ts'
import { judge, median, type Result } from '../result.ts'

const FILES = { quick: 20_000, full: 100_000 }
const PAGES_COMPARED = 20

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

  const scan = await target.call<{ ms: number; entries: number; rssMb: number }>('scan', dir)
  await target.call('list')
  // The second time everything is warm, and a page costs what its place in the list makes it cost.
  const pages = await target.call<number[]>('list')
  const first = median(pages.slice(0, PAGES_COMPARED))
  const last = median(pages.slice(-PAGES_COMPARED))
  const drops: number[] = []
  for (let n = 0; n < (bench.isQuick ? 3 : 7); n++) {
    drops.push(await target.call<number>('drop', { dir, name: `dropped-${n}.txt` }))
  }
  await target.call('stop', dir)
  bench.say(`  ${scan.entries} entries scanned in ${Math.round(scan.ms)} ms, listed on ${pages.length} pages`)

  return [
    // Per hundred thousand, so that a short run can be read beside a long one.
    judge('sandbox.scan100kMs', scan.ms * (FILES.full / FILES[size]), 'ms', { atMost: 10_000 }),
    judge('sandbox.lastPageVsFirst', last / first, 'ratio', { atMost: 2 }),
    judge('sandbox.pageMs', median(pages), 'ms'),
    judge('sandbox.droppedMs', median(drops), 'ms', { atMost: 1_000 }),
    judge('sandbox.scanMemoryMb', scan.rssMb, 'MB', { atMost: 300 }),
  ]
}
