import { statSync, truncateSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram, type Target } from '../processes/child.ts'
import { type Goal, judge, type Result } from '../report/result.ts'
import { inTurn, measureRounds } from '../report/rounds.ts'
import type { Hosted } from '../targets/file-host.ts'
import type { Bench, Suite } from './suite.ts'

const MIB = 2 ** 20
const SIZES = { once: 16 * MIB, quick: 256 * MIB, full: 2_048 * MIB }

const GOALS = {
  vsCurl: { atLeast: 0.8 },
  resumedVsCurl: { atLeast: 0.8 },
  retriedVsCurl: { atLeast: 0.8 },
  extraRssMiB: { atMost: 64 },
} as const satisfies Record<string, Goal>

const RIVALS = ['curl', 'client'] as const
type Rival = (typeof RIVALS)[number]

/** Speed of a large download, whole and resumed, against curl, which neither hashes nor syncs. */
export const download: Suite = {
  names: [
    'download.vsCurl',
    'download.resumedVsCurl',
    'download.retriedVsCurl',
    'download.extraRssMiB',
    'download.mibPerSecond',
  ],
  run: runDownload,
}

async function runDownload(bench: Bench): Promise<Result[]> {
  const bytes = SIZES[bench.size]
  await using host = bench.startTarget('file-host.ts')
  const hosted = await host.call<Hosted>('start', { folder: bench.folder, bytes })
  const paths = { curl: join(bench.folder, 'by-curl'), client: join(bench.folder, 'by-client') }
  const extraRssMiB = await measureMemory(bench, hosted, paths.client)
  await using client = bench.startTarget('downloader.ts')
  await using crashed = bench.startTarget('downloader.ts')
  for (const process of [client, crashed]) await process.call('start', hosted)
  const contest = { bench, bytes, host, client, crashed, paths }
  const rounds = bench.quickRounds ?? { min: 5, max: 9 }
  const { vsCurl, resumedVsCurl, retriedVsCurl } = GOALS
  const figures = await measureRounds(rounds, { vsCurl, resumedVsCurl, retriedVsCurl }, (round) =>
    measureRound(contest, round),
  )
  await host.call('stop')
  return [
    judge('download.vsCurl', figures.vsCurl, 'ratio', GOALS.vsCurl),
    judge('download.resumedVsCurl', figures.resumedVsCurl, 'ratio', GOALS.resumedVsCurl),
    judge('download.retriedVsCurl', figures.retriedVsCurl, 'ratio', GOALS.retriedVsCurl),
    judge('download.extraRssMiB', extraRssMiB, 'MiB', GOALS.extraRssMiB),
    judge('download.mibPerSecond', figures.mibPerSecond, 'MiB/s'),
  ]
}

/** A process of its own, because a peak covers the whole life of a process. */
async function measureMemory(bench: Bench, hosted: Hosted, to: string): Promise<number> {
  await using client = bench.startTarget('downloader.ts')
  await using crashed = bench.startTarget('downloader.ts')
  for (const process of [client, crashed]) await process.call('start', hosted)
  const { nowMiB } = await client.call<Memory>('memory')
  await client.call('download', { to })
  await crashed.call('interrupt', { to })
  await client.call('download', { to })
  return (await client.call<Memory>('memory')).peakMiB - nowMiB
}

interface Memory {
  nowMiB: number
  peakMiB: number
}

interface Contest {
  bench: Bench
  bytes: number
  host: Target
  client: Target
  /** Leaves parts of whose hashes the client knows nothing, as a process that crashed does. */
  crashed: Target
  paths: Record<Rival, string>
}

/** Brings a rival's file into the state that the race starts from; returns its bytes. */
type Preparation = Record<Rival, () => Promise<number>>

async function measureRound(contest: Contest, round: number) {
  const { bench, bytes, client, crashed, paths } = contest
  await bench.patience.waitForCalm()
  const half = Math.floor(bytes / 2)
  const halve = async () => {
    truncateSync(paths.curl, half)
    return half
  }
  const whole = await race(contest, round, {
    curl: () => removeFile(paths.curl),
    client: () => removeFile(paths.client),
  })
  // As after a crash: the client reads the first half again to hash the whole file.
  const resumed = await race(contest, round, {
    curl: halve,
    client: () => crashed.call<number>('interrupt', { to: paths.client }),
  })
  // As before a retry in the same process: the client has the hash of the first half.
  const retried = await race(contest, round, {
    curl: halve,
    client: () => client.call<number>('interrupt', { to: paths.client }),
  })
  const describe = (rates: Rates) => `${rates.client.toFixed(0)} MiB/s, curl ${rates.curl.toFixed(0)}`
  bench.say(`  whole ${describe(whole)}; after a crash ${describe(resumed)}; in the same process ${describe(retried)}`)
  return {
    vsCurl: whole.client / whole.curl,
    resumedVsCurl: resumed.client / resumed.curl,
    retriedVsCurl: retried.client / retried.curl,
    mibPerSecond: whole.client,
  }
}

async function removeFile(path: string): Promise<number> {
  await rm(path, { force: true })
  return 0
}

/** MiB per second. */
type Rates = Record<Rival, number>

/**
 * Download rates of the rivals, one after the other. A `sync` comes before each, or a rival would
 * pay for pages that curl left unwritten.
 */
async function race({ bytes, host, client, paths }: Contest, round: number, prepare: Preparation): Promise<Rates> {
  const rates: Rates = { curl: 0, client: 0 }
  for (const rival of inTurn(RIVALS, round)) {
    const found = await prepare[rival]()
    await runProgram('sync', [], 300)
    const ms =
      rival === 'curl'
        ? await runCurl(await host.call<string>('url'), paths.curl)
        : await runClient(client, paths.client, found)
    if (statSync(paths[rival]).size !== bytes) throw new Error(`${rival} did not download the whole file`)
    rates[rival] = (bytes - found) / MIB / (ms / 1_000)
  }
  return rates
}

/** Milliseconds of a download that continues a part of `found` bytes. */
async function runClient(client: Target, to: string, found: number): Promise<number> {
  const { ms, resumedFrom } = await client.call<{ ms: number; resumedFrom: number }>('download', { to })
  if (resumedFrom !== found) throw new Error(`the client continued from ${resumedFrom} bytes, not from ${found}`)
  return ms
}

/** Milliseconds by curl's own clock, without the start of its process. */
async function runCurl(url: string, to: string): Promise<number> {
  const options = ['--silent', '--show-error', '--fail', '--continue-at', '-', '--write-out', '%{time_total}']
  return Number(await runProgram('curl', [...options, '--output', to, url], 300)) * 1_000
}
