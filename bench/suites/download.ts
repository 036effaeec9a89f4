import { statSync, truncateSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench, Suite } from '../bench.ts'
import { runToEnd, type Target } from '../child.ts'
import { type Goal, judge, type Result } from '../result.ts'
import { inTurn, measureRounds } from '../rounds.ts'
import type { Hosted } from '../targets/file-host.ts'

const MIB = 2 ** 20

const GOALS = {
  vsCurl: { atLeast: 0.8 },
  resumedVsCurl: { atLeast: 0.8 },
  retriedVsCurl: { atLeast: 0.8 },
  extraRssMiB: { atMost: 64 },
} as const satisfies Record<string, Goal>

const RIVALS = ['curl', 'client'] as const
type Rival = (typeof RIVALS)[number]

/**
 * How fast a large file comes down, whole and resumed, against curl, which hashes nothing and syncs
 * nothing.
 */
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
  const bytes = (bench.isQuick ? 256 : 2_048) * MIB
  await using host = bench.startTarget('file-host.ts')
  const hosted = await host.call<Hosted>('start', { folder: bench.folder, bytes })
  const paths = { curl: join(bench.folder, 'by-curl'), client: join(bench.folder, 'by-client') }
  const extraRssMiB = await measureMemory(bench, hosted, paths.client)
  await using client = bench.startTarget('downloader.ts')
  await client.call('start', hosted)
  const contest = { bench, bytes, host, client, paths }
  const rounds = bench.isQuick ? { least: 5, most: 7 } : { least: 5, most: 9 }
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

/** In a process of its own, because the most that a process ever had is all that it knows. */
async function measureMemory(bench: Bench, hosted: Hosted, to: string): Promise<number> {
  await using client = bench.startTarget('downloader.ts')
  await client.call('start', hosted)
  const { nowMiB } = await client.call<Memory>('memory')
  await client.call('download', { to })
  await client.call('halve', { to })
  await client.call('download', { to })
  return (await client.call<Memory>('memory')).mostMiB - nowMiB
}

interface Memory {
  nowMiB: number
  mostMiB: number
}

interface Contest {
  bench: Bench
  bytes: number
  host: Target
  client: Target
  paths: Record<Rival, string>
}

/** Leaves a rival's file as the race is to find it; gives the bytes that are there. */
type Preparation = Record<Rival, () => Promise<number>>

async function measureRound(contest: Contest, round: number) {
  const { bench, bytes, client, paths } = contest
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
  // What a process that died has left: its bytes have to be read again for the hash of the whole.
  const resumed = await race(contest, round, {
    curl: halve,
    client: () => client.call<number>('halve', { to: paths.client }),
  })
  // What the process itself has left, as before a retry: it knows their hash.
  const retried = await race(contest, round, {
    curl: halve,
    client: () => client.call<number>('interrupt', { to: paths.client }),
  })
  const describe = (rates: Rates) => `${rates.client.toFixed(0)} MiB/s, curl ${rates.curl.toFixed(0)}`
  bench.say(
    `  whole ${describe(whole)}; second half ${describe(resumed)}; second half after a break ${describe(retried)}`,
  )
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
 * How fast each brings what is missing of its file, one after the other. Each starts right after
 * its own file was made ready, with a disk that has nothing left to write: curl syncs nothing, and
 * the next one would pay for it.
 */
async function race({ bytes, host, client, paths }: Contest, round: number, prepare: Preparation): Promise<Rates> {
  const rates: Rates = { curl: 0, client: 0 }
  for (const rival of inTurn(RIVALS, round)) {
    const found = await prepare[rival]()
    await runToEnd('sync', [], 300)
    const ms =
      rival === 'curl'
        ? await runCurl(await host.call<string>('url'), paths.curl)
        : (await client.call<{ ms: number }>('download', { to: paths.client })).ms
    if (statSync(paths[rival]).size !== bytes) throw new Error(`${rival} did not bring the whole file`)
    rates[rival] = (bytes - found) / MIB / (ms / 1_000)
  }
  return rates
}

/** By its own watch, so that the start of its process is not held against it. */
async function runCurl(url: string, to: string): Promise<number> {
  const options = ['--silent', '--show-error', '--fail', '--continue-at', '-', '--write-out', '%{time_total}']
  return Number(await runToEnd('curl', [...options, '--output', to, url], 300)) * 1_000
}
